// The playground with a clock that its parent controls. Each message moves the clock, and the reply is the new time. It can also
// publish made-up attempts.
import { monotonicClock } from '@rollgate/core';
import { MemoryBackend } from '../../dist/engine/backend.js';
import { serve } from '../../dist/server/serve.js';

let aheadMs = 0;
/** The time while the clock stands still. */
let stillMs;
const clock = { now: () => stillMs ?? monotonicClock.now() + aheadMs };

const backend = new MemoryBackend(clock);
let published = 0;
/** When the limits of the made-up attempts started over. */
let countedFromMs;

/** Publishes made-up attempts under a limit of 50 a minute, first the allowed ones. */
function publish({ allowed, rejected }) {
  countedFromMs ??= clock.now();
  const rules = { limit: 50, windowMs: 60_000, minDifferenceMs: 0, countedFromMs };
  for (let index = 0; index < allowed + rejected; index++) {
    const isAllowed = index < allowed;
    const delay = isAllowed ? 0 : null;
    const delays = { rolling: delay, bucketed: delay, counter: delay, fixed: delay, token: delay, leaky: delay };
    const decided = { delayMs: 0, allowed: isAllowed, delays, remaining: 0, degraded: false };
    const id = `published-${published++}`;
    backend.publish({ kind: 'attempt', attempt: { id, atMs: clock.now(), ...decided, ...rules } });
  }
}

process.on('message', ({ toMs, stands, attempts }) => {
  if (attempts !== undefined) publish(attempts);
  if (toMs !== undefined) aheadMs = toMs - monotonicClock.now();
  stillMs = stands ? (toMs ?? clock.now()) : undefined;
  process.send(clock.now());
});

const { port, close } = await serve(0, undefined, backend);
process.once('SIGTERM', () => {
  process.disconnect();
  close();
});
console.log(`http://127.0.0.1:${port} Ctrl-C`);
