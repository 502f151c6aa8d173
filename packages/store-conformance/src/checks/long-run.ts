import assert from 'node:assert/strict';
import {
  type AlgorithmName,
  algorithmNames,
  endsLeases,
  type LimitSpec,
  limitOf,
  type OptionsOf,
} from '../algorithms.js';
import { MS } from '../oracles/oracle.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

/** The settings of a greedy caller's limit, and the units that it guarantees. */
interface LongRun<Name extends AlgorithmName = AlgorithmName> {
  readonly options: OptionsOf<Name>;
  /** The units allowed within `elapsed` microseconds after the first action, including the end. */
  readonly guaranteed: (elapsed: number, leasesEnd: boolean) => number;
  /**
   * The caller retries after a random time of up to this many milliseconds. Without it, it waits for `retryAfterMs`.
   */
  readonly randomStepMs?: number;
}

const limit = 10;
const window = 60;

const windows = (elapsed: number, length = window) => Math.floor(elapsed / (length * MS)) + 1;

function tokens(capacity: number, refill: number, every: number): LongRun<'tokenBucket'> {
  const guaranteed = (elapsed: number) => capacity + Number((BigInt(elapsed) * BigInt(refill)) / BigInt(every * MS));
  return { options: { capacity, refill, every }, guaranteed, randomStepMs: every / refill };
}

/**
 * After a first window of `limit` units, each window has one less, because a unit of the previous one counts until its
 * end.
 */
function guaranteedByCounter(elapsed: number): number {
  const startedWindows = windows(elapsed);
  if (startedWindows === 1) return limit;
  const before = startedWindows === 2 ? limit : limit - 1;
  const counting = Math.ceil((before * (startedWindows * window * MS - elapsed)) / (window * MS));
  return limit + (startedWindows - 2) * (limit - 1) + limit - counting;
}

const longRuns: { [Name in AlgorithmName]: readonly LongRun<Name>[] } = {
  rollingWindow: [{ options: { limit, window }, guaranteed: (elapsed) => limit * windows(elapsed) }],
  fixedWindow: [{ options: { limit, window }, guaranteed: (elapsed) => limit * windows(elapsed) }],
  slidingWindowCounter: [{ options: { limit, window }, guaranteed: guaranteedByCounter }],
  tokenBucket: [tokens(5, 1, 7), tokens(5, 3, 7), tokens(5, 1000, 999)],
  leakyBucket: [
    {
      options: { capacity: 5, interval: 7 },
      guaranteed: (elapsed) => 5 + windows(elapsed, 7),
      randomStepMs: 7,
    },
  ],
  // A bucket of one millisecond must leave the window completely.
  bucketedWindow: [{ options: { limit, window }, guaranteed: (elapsed) => limit * windows(elapsed, window + 1) }],
  calendarWindow: [{ options: { limit, lengths: [window] }, guaranteed: (elapsed) => limit * windows(elapsed) }],
  block: [{ options: { length: window }, guaranteed: (elapsed) => windows(elapsed) }],
  // The caller closes nothing, and no server reports anything.
  reportedQuota: [
    {
      options: { lease: window, guess: limit, maxAge: window, retryAfter: 7 },
      guaranteed: (elapsed, leasesEnd) => (leasesEnd ? limit * windows(elapsed) : limit),
    },
  ],
  // The caller releases nothing.
  concurrency: [
    {
      options: { limit, lease: window, retryAfter: 7 },
      guaranteed: (elapsed, leasesEnd) => (leasesEnd ? limit * windows(elapsed, 63) : limit),
    },
  ],
};

/** Pseudorandom integers from 0 to `most`, the same in each run. */
function* pseudorandomIntegers(most: number): Generator<number, never> {
  for (let state = 42; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield Math.floor((state / 2 ** 32) * (most + 1));
  }
}

async function verifyLongRun(
  context: CheckContext,
  spec: LimitSpec,
  { guaranteed, randomStepMs }: LongRun,
): Promise<void> {
  const { clock, longRun } = context;
  const start = window * MS * 1e6; // The start of a window, and of a bucket.
  const steps = randomStepMs === undefined ? undefined : pseudorandomIntegers(Math.floor(randomStepMs * MS));
  const limiter = createLimiter(context, limitOf(spec));
  clock.micros = start;
  let admitted = 0;
  // Continues until a rejection, but not forever, because a broken store may reject nothing.
  for (let calls = 1; calls < longRun + 1000; calls++) {
    const { allowed, retryAfterMs } = await limiter.check('ann');
    if (allowed) admitted += 1;
    else if (calls >= longRun) break; // The quota is used up.
    clock.micros += steps?.next().value ?? Math.round(retryAfterMs * MS);
  }
  const elapsed = clock.micros - start;
  assert.equal(
    admitted,
    guaranteed(elapsed, endsLeases(context.store)),
    `Units allowed in ${elapsed} µs under ${JSON.stringify(spec)}`,
  );
}

export const longRunRequirements: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} gives a greedy caller everything it guarantees in a long run`,
  among: [algorithm],
  async verify(context) {
    for (const run of longRuns[algorithm]) {
      await verifyLongRun(context, { algorithm, options: run.options } as LimitSpec, run as LongRun);
    }
  },
}));
