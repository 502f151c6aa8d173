import assert from 'node:assert/strict';
import { type AlgorithmName, algorithmNames, type LimitSpec, limitOf, type OptionsOf } from '../algorithms.js';
import { MS } from '../oracles/oracle.js';
import { type CheckContext, makeLimiter, type Requirement } from './check.js';

/** A caller who is never content, and what it is let through in the end. */
interface LongRun<Name extends AlgorithmName = AlgorithmName> {
  readonly options: OptionsOf<Name>;
  /** Units let through until `elapsed` microseconds after the first, the last moment included. */
  readonly promised: (elapsed: number) => number;
  /** Comes back after up to so many milliseconds, whatever it was told; without it, as soon as it was told it may. */
  readonly randomStepMs?: number;
}

const limit = 10;
const window = 60;

const windows = (elapsed: number, length = window) => Math.floor(elapsed / (length * MS)) + 1;

function tokens(capacity: number, refill: number, every: number): LongRun<'tokenBucket'> {
  const promised = (elapsed: number) => capacity + Number((BigInt(elapsed) * BigInt(refill)) / BigInt(every * MS));
  return { options: { capacity, refill, every }, promised, randomStepMs: every / refill };
}

/** After a first window of `limit` units each has one less: to the last moment a unit of the one before counts. */
function byCounter(elapsed: number): number {
  const begun = windows(elapsed);
  if (begun === 1) return limit;
  const before = begun === 2 ? limit : limit - 1;
  const counting = Math.ceil((before * (begun * window * MS - elapsed)) / (window * MS));
  return limit + (begun - 2) * (limit - 1) + limit - counting;
}

const longRuns: { [Name in AlgorithmName]: readonly LongRun<Name>[] } = {
  rollingWindow: [{ options: { limit, window }, promised: (elapsed) => limit * windows(elapsed) }],
  fixedWindow: [{ options: { limit, window }, promised: (elapsed) => limit * windows(elapsed) }],
  slidingWindowCounter: [{ options: { limit, window }, promised: byCounter }],
  tokenBucket: [tokens(5, 1, 7), tokens(5, 3, 7), tokens(5, 1000, 999)],
  leakyBucket: [
    {
      options: { capacity: 5, interval: 7 },
      promised: (elapsed) => 5 + windows(elapsed, 7),
      randomStepMs: 7,
    },
  ],
  // A bucket of one millisecond has to leave the window as a whole.
  bucketedWindow: [{ options: { limit, window }, promised: (elapsed) => limit * windows(elapsed, window + 1) }],
};

/** Whole numbers from 0 to `most` that look random, and are the same each time. */
function* randoms(most: number): Generator<number, never> {
  for (let state = 42; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield Math.floor((state / 2 ** 32) * (most + 1));
  }
}

async function saturate(context: CheckContext, spec: LimitSpec, { promised, randomStepMs }: LongRun): Promise<void> {
  const { clock, longRun } = context;
  const start = window * MS * 1e6; // The start of a window, and of a bucket.
  const steps = randomStepMs === undefined ? undefined : randoms(Math.floor(randomStepMs * MS));
  const limiter = makeLimiter(context, limitOf(spec));
  clock.micros = start;
  let admitted = 0;
  // Far more than it takes to be refused once again: a store that refuses nothing is to be found out, too.
  for (let asked = 1; asked < longRun + 1000; asked++) {
    const { allowed, retryAfterMs } = await limiter.check('ann');
    if (allowed) admitted += 1;
    else if (asked >= longRun) break; // Nothing is left that it could have had.
    clock.micros += steps?.next().value ?? Math.round(retryAfterMs * MS);
  }
  const elapsed = clock.micros - start;
  assert.equal(admitted, promised(elapsed), `Units let through in ${elapsed} µs under ${JSON.stringify(spec)}`);
}

export const longRunRequirements: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} gives a caller who never rests all that it promises, over a long time`,
  among: [algorithm],
  async verify(context) {
    for (const run of longRuns[algorithm]) {
      await saturate(context, { algorithm, options: run.options } as LimitSpec, run as LongRun);
    }
  },
}));
