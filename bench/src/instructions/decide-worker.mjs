import { uptime } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fixedWindow, MemoryStore, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';

// Runs one work of `decide()` under callgrind, which writes its counts whenever this process asks for the machine's uptime. So the
// second of them is the measured part. It runs without dependencies on the bench, because each line of start-up takes long there.

const WARM = 300_000;
const MEASURED = 40_000;
const KEYS = 1_000;
const LIMIT = 100;
const WINDOW_MS = 60_000;

const rolling = () => rollingWindow({ limit: LIMIT, window: WINDOW_MS });
const fixed = () => fixedWindow({ limit: LIMIT, window: WINDOW_MS });

/** What each work decides, and how often for each key in one window. */
const WORKS = {
  'rolling allowed': { limits: rolling(), checks: 60 },
  // If no decision and no hit stays, V8 drops the code of each check with the last one of them.
  'rolling allowed, after a full collection': { limits: rolling(), checks: 60, collects: true },
  'rolling rejected': { limits: rolling(), checks: 6_000 },
  'fixed window': { limits: fixed(), checks: 60 },
  'token bucket': { limits: tokenBucket({ capacity: 1_000, refill: 30, every: WINDOW_MS }), checks: 60 },
  'cost 5': { limits: rolling(), checks: 15, cost: 5 },
  'rolling and fixed': { limits: { one: rolling(), two: fixed() }, checks: 60 },
  'new key': { limits: rolling(), checks: 60_000, areNew: true },
};

const { limits, checks, cost, areNew = false, collects = false } = WORKS[process.argv[2]];
const options = cost && { cost };
let nowMs = WINDOW_MS * 29_000_000;
const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
// A server gets its keys as flat strings. V8 would join the parts of these at their first use, in the measured part.
const keys = Array.from({ length: areNew ? WARM + MEASURED : KEYS }, (_, index) =>
  Buffer.from(`192.0.${index >> 8}.${index & 255}`).toString('latin1'),
);

/** Decides once for each of 1,000 keys. A function that V8 enters often is not compiled in the middle of its loop. */
function decideRound(first) {
  let allowed = 0;
  for (let index = first; index < first + KEYS; index++) {
    if (limiter.decide(keys[index], options).allowed) allowed += 1;
  }
  nowMs += WINDOW_MS / checks;
  return allowed;
}

function decide(from, to) {
  let allowed = 0;
  for (let at = from; at < to; at += KEYS) allowed += decideRound(areNew ? at : 0);
  return allowed;
}

decide(0, WARM);
if (collects) {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
uptime();
const allowed = decide(WARM, WARM + MEASURED);
uptime();
console.log(JSON.stringify({ decides: MEASURED, allowed }));
