import { ipv4Key } from '../../subjects.js';
import { tenths, whole } from '../../table.js';
import { createTimed, type Probe, type TimedLimiter } from '../probe.js';

const LIMIT = 10;
const WINDOW_MS = 60_000;
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
