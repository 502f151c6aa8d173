import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ipv4Key } from '../../subjects.js';
import { tenths, toFigure, whole } from '../../table.js';
import { mostInAnyWindow } from '../../trial.js';
import { FakeTime } from '../fake-time.js';
import type { Library } from '../library.js';
import { countAllowed, createTimed, type Probe, type TimedLimiter } from '../probe.js';

const LIMIT = 10;
const WINDOW_MS = 60_000;
/** Just before and at the end of a window, whether it starts with the clock's minute or with the first request. */
const MOMENTS = [0, WINDOW_MS - 2, WINDOW_MS - 1, WINDOW_MS, 2 * WINDOW_MS - 2, 2 * WINDOW_MS];
/** How many requests may come at a moment. The last one stands for as many as the limiter allows. */
const BURSTS = [0, 1, 3 * LIMIT];
const MOST_MOMENTS = 3;

export const mostInWindow: Probe = {
  title: 'most allowed in a window, limit 10',
  method:
    'Sends requests at up to three moments, each at the start of a minute of the clock or up to two milliseconds before it. At each moment, sends one request, or as many as the library allows. Tries every combination, and reports the most requests allowed within any 60 seconds. An exact limiter allows 10. A counter whose minute begins with the first request allows 19: one request starts it, nine come just before it ends, and ten as soon as it has ended. @upstash/ratelimit assumes that requests are spread evenly over each minute of the clock, so it allows ten at the end of one minute, and ten more 59.999 seconds later.',
  async run(library) {
    const timed = await createTimed(library, { limit: LIMIT, windowMs: WINDOW_MS });
    if (timed === undefined) return undefined;
    let most = 0;
    for (const [index, bursts] of choices().entries()) {
      most = Math.max(most, mostInAnyWindow(await allowedTimes(timed, ipv4Key(index), bursts), WINDOW_MS));
    }
    return toFigure(most, whole);
  },
};

/** The bursts at the moments, for every choice. */
function choices(): number[][] {
  let all: number[][] = [[]];
  for (const _ of MOMENTS) all = all.flatMap((bursts) => BURSTS.map((burst) => [...bursts, burst]));
  return all.filter((bursts) => bursts.filter((burst) => burst > 0).length <= MOST_MOMENTS);
}

async function allowedTimes(
  { limiter, time }: TimedLimiter,
  key: string,
  bursts: readonly number[],
): Promise<number[]> {
  const times: number[] = [];
  const start = time.ms - (time.ms % WINDOW_MS) + 5 * WINDOW_MS;
  for (const [index, burst] of bursts.entries()) {
    time.moveTo(start + MOMENTS[index]!);
    for (let request = 0; request < burst; request++) {
      if (!(await limiter.check(key)).allowed) break;
      times.push(time.ms);
    }
  }
  return times;
}

const REQUESTS = 10;
const RULE = { limit: 5, windowMs: 60_000 };

export const requestsAtOnce: Probe = {
  title: 'allowed out of 10 at once, limit 5',
  method:
    'Sends ten requests in one packet to a server on the same machine, as a script can but a browser does not. For a library without middleware, starts ten checks at once. Five should be allowed. Libraries that allow none keep one counter object per client. All ten requests increment it before any of them compares it with the limit, so all ten are rejected.',
  async run(library) {
    const allowed =
      library.serve === undefined ? await callAtOnce(library) : await sendAtOnce(await library.serve(RULE));
    return allowed === undefined ? undefined : { value: allowed, text: String(allowed) };
  },
};

async function sendAtOnce(server: Server): Promise<number> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const request = (connection: string) => `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
  socket.write(request('keep-alive').repeat(REQUESTS - 1) + request('close'));
  const responses = await text(socket);
  return responses.match(/HTTP\/1\.1 200/g)?.length ?? 0;
}

async function callAtOnce(library: Library): Promise<number | undefined> {
  const timed = await createTimed(library, RULE);
  if (timed === undefined) return undefined;
  const outcomes = await Promise.all(Array.from({ length: REQUESTS }, () => timed.limiter.check('192.0.2.1')));
  return outcomes.filter(({ allowed }) => allowed).length;
}

const MINUTES = 10;

export const persistentClient: Probe = {
  title: 'allowed to a client that keeps trying',
  method: `Sends a request every second for ${MINUTES} minutes, with a limit of 10 a minute, so 100 should be allowed. @nestjs/throttler and @upstash/ratelimit allow fewer, because after a rejection they block the client for a time, even when the limit has room again. rolling-rate-limiter counts every rejected request, so it allows nothing after the first ten.`,
  async run(library) {
    const timed = await createTimed(library, { limit: 10, windowMs: 60_000 });
    if (timed === undefined) return undefined;
    const { limiter, time } = timed;
    let allowed = 0;
    for (let second = 0; second < MINUTES * 60; second++) {
      time.moveTo(second * 1000);
      if ((await limiter.check('192.0.2.1')).allowed) allowed += 1;
    }
    return toFigure(allowed, whole);
  },
};

const HOURLY = { limit: 10, windowMs: 3_600_000 };
const SECONDLY = { limit: 2, windowMs: 1000 };

export const twoLimits: Probe = {
  title: 'allowed with limits of 10 an hour and 2 a second',
  method:
    'Sends five requests at once, of which the limit of 2 a second rejects three. Then sends one every two seconds. Tries both orders of the limits, and reports the worse result. Fewer than ten are allowed if rejected requests also count toward the hourly limit.',
  async run({ combined }) {
    if (combined === undefined) return undefined;
    const time = FakeTime.start();
    const orders = [await combined(HOURLY, SECONDLY), await combined(SECONDLY, HOURLY)];
    const allowed = await Promise.all(orders.map((limiter) => countAllowed(limiter, '192.0.2.1', 5)));
    for (let request = 1; request <= 20; request++) {
      time.moveTo(2000 * request);
      for (const [order, limiter] of orders.entries()) allowed[order]! += await countAllowed(limiter, '192.0.2.1', 1);
    }
    return toFigure(Math.min(...allowed), whole);
  },
};

const REJECTED_AFTER_MS = 30_300;
/** Each try gets its own key and begins at the same second of the clock's minute. */
const TRY_EVERY_MS = 20 * WINDOW_MS;
const FIRST_TRY_MS = 20_000;

export const reportedWait: Probe = {
  title: 'reported wait',
  method:
    'Sends ten requests one second apart, and an eleventh 30.3 seconds after the first. The eleventh is rejected. Compares the wait that the rejection reports with the shortest wait after which a request is allowed. For the libraries for Express, Fastify, Hono and NestJS, reads it from the header `Retry-After`, which has whole seconds. For Rollgate and the others, reads it from their API. A wait that is too long only because it is rounded up to a whole second is "exact, in seconds". This also applies to the `Retry-After` of the Rollgate adapters. The wait of @nestjs/throttler is exact even in seconds, because it blocks a client for a whole minute.',
  async run(library) {
    const timed = await createTimed(library, { limit: LIMIT, windowMs: WINDOW_MS });
    if (timed === undefined) return undefined;
    const reported = await rejectedWait(timed, 0);
    return reported === undefined ? 'none' : describe(reported - (await shortestWait(timed)));
  },
};

/** Fills the limit of a new key. Returns the wait that its rejection reports. */
async function rejectedWait({ limiter, time }: TimedLimiter, attempt: number): Promise<number | undefined> {
  const start = FIRST_TRY_MS + attempt * TRY_EVERY_MS;
  const key = ipv4Key(attempt);
  for (let request = 0; request < LIMIT; request++) {
    time.moveTo(start + request * 1000);
    await limiter.check(key);
  }
  time.moveTo(start + REJECTED_AFTER_MS);
  const { allowed, retryAfterMs } = await limiter.check(key);
  if (allowed) throw new Error('Expected the eleventh request to be rejected, got an allowed one');
  return retryAfterMs;
}

/** Finds the shortest wait, in milliseconds. A longer one never makes a request less allowed. */
async function shortestWait(timed: TimedLimiter): Promise<number> {
  let [tooShort, enough] = [0, 3 * WINDOW_MS];
  for (let attempt = 1; enough - tooShort > 1; attempt++) {
    const wait = Math.floor((tooShort + enough) / 2);
    await rejectedWait(timed, attempt);
    timed.time.moveTo(timed.time.ms + wait);
    const { allowed } = await timed.limiter.check(ipv4Key(attempt));
    if (allowed) enough = wait;
    else tooShort = wait;
  }
  return enough;
}

function describe(excessMs: number): string {
  if (Math.abs(excessMs) < 1) return 'exact';
  if (excessMs > 0 && excessMs < 1000) return 'exact, in seconds';
  const amount =
    Math.abs(excessMs) < 1000 ? `${whole(Math.abs(excessMs))} ms` : `${tenths(Math.abs(excessMs) / 1000)} s`;
  return `${amount} too ${excessMs > 0 ? 'long' : 'short'}`;
}
