import { CounterAlgorithm } from './counter-algorithm.js';
import { type Duration, parseDuration, parseInterval } from './duration.js';
import { withCode } from './error-codes.js';
import { DEFAULT_TIMEOUT_MS, parseTimeout } from './failure/deadlines.js';
import { GuardedCountingStore } from './failure/guarded-counting-store.js';
import { MAX_BUCKETS } from './limits/bucket-counts.js';
import { isMemoryStore, MemoryStore } from './memory-store.js';
import type { CountingStore } from './store.js';
import { hasMethods, invalidNumber, invalidOption, knownOptions, positiveInteger, string } from './validate.js';

/** What {@link RollingCounter} takes. */
export interface RollingCounterOptions {
  /** Where the counts are kept; default a {@link MemoryStore} of this counter's own. */
  store?: CountingStore | undefined;
  /** Keeps the subjects of counters on one store apart; default `'rollgate'`. */
  prefix?: string | undefined;
  /** The length of a bucket, and so how exactly an interval is kept to; milliseconds or text. Default 5 s. */
  bucketInterval?: Duration | undefined;
  /** The longest interval that can be asked for, at most 3,600 buckets; milliseconds or text. Default 10 min. */
  bucketSpan?: Duration | undefined;
  /** How long a subject is kept that nothing is added to, not less than `bucketSpan`; milliseconds or text. Default 20 min. */
  subjectExpiry?: Duration | undefined;
  /** How long `store` may take to answer, at most; milliseconds or text. Default 500 ms. */
  timeout?: Duration | undefined;
}

const OPTIONS = ['store', 'prefix', 'bucketInterval', 'bucketSpan', 'subjectExpiry', 'timeout'];

/**
 * Counts without judging: how often something happened within the last minute, or any interval up to `bucketSpan`.
 *
 * Counts are kept by buckets of time on a circle, and a bucket counts whole as long as a part of it lies in the interval. So
 * a count is never too low, and never higher than that of an interval longer by one bucket.
 *
 * @throws TypeError, RangeError at construction, naming the option that is wrong.
 * @example
 * ```ts
 * import { RollingCounter } from '@rollgate/core';
 *
 * const requests = new RollingCounter({ prefix: 'requests' });
 * await requests.add('ann');
 * await requests.add('ann', 2);
 * await requests.count('ann', '1m'); // => 3
 * await requests.addCount('ann', '10m'); // => 4
 * ```
 */
export class RollingCounter {
  readonly #counter: CounterAlgorithm;
  readonly #store: CountingStore;
  readonly #ownStore: MemoryStore | undefined;

  constructor(options: RollingCounterOptions = {}) {
    knownOptions('RollingCounter', options, OPTIONS);
    const { store, prefix = 'rollgate', bucketInterval = '5s', bucketSpan = '10m', subjectExpiry = '20m' } = options;
    if (store !== undefined && !hasMethods(store, ['addCount'])) {
      throw invalidOption('store', 'a store that counts, such as `new MemoryStore()`', store);
    }
    const widthMs = parseInterval('bucketInterval', bucketInterval);
    const spanMs = parseInterval('bucketSpan', bucketSpan);
    const expiryMs = parseInterval('subjectExpiry', subjectExpiry);
    if (spanMs < widthMs || spanMs > widthMs * MAX_BUCKETS) {
      throw invalidNumber('bucketSpan', `1 to ${MAX_BUCKETS} times \`bucketInterval\``, bucketSpan);
    }
    if (expiryMs < spanMs) throw invalidNumber('subjectExpiry', '`bucketSpan` or longer', subjectExpiry);
    this.#counter = new CounterAlgorithm(string('prefix', prefix), widthMs * 1000, spanMs * 1000, expiryMs * 1000);
    const timeoutMs = parseTimeout(options.timeout ?? DEFAULT_TIMEOUT_MS);
    this.#ownStore = store === undefined ? new MemoryStore() : undefined;
    const counting = store ?? (this.#ownStore as MemoryStore);
    this.#store = isMemoryStore(counting) ? counting : new GuardedCountingStore(counting, timeoutMs);
  }

  /**
   * Adds `units` to what is counted of the subject.
   *
   * @throws TypeError, RangeError (as a rejection) for a wrong subject or number; a `StoreError` when the store failed.
   */
  async add(subject: string, units = 1): Promise<void> {
    await this.#store.addCount(this.#counter, subjectOf(subject), positiveInteger('units', units), 0);
  }

  /**
   * The units of the subject in the last `interval`.
   *
   * @throws TypeError, RangeError (as a rejection) for a wrong subject or an interval longer than `bucketSpan`; a
   * `StoreError` when the store failed.
   */
  async count(subject: string, interval: Duration): Promise<number> {
    return this.#store.addCount(this.#counter, subjectOf(subject), 0, this.#intervalMicros(interval));
  }

  /** Adds `units`, and answers as {@link count}, the added ones included, in one step. */
  async addCount(subject: string, interval: Duration, units = 1): Promise<number> {
    positiveInteger('units', units);
    return this.#store.addCount(this.#counter, subjectOf(subject), units, this.#intervalMicros(interval));
  }

  /** Closes the store if this counter made it; a store that was passed in stays with who made it. */
  async close(): Promise<void> {
    this.#ownStore?.close();
  }

  #intervalMicros(interval: Duration): number {
    const micros = parseDuration('interval', interval) * 1000;
    if (micros <= this.#counter.spanMicros) return micros;
    throw invalidNumber('interval', `\`bucketSpan\` (${this.#counter.spanMicros / 1000} ms) at most`, interval);
  }
}

/** @throws TypeError when the subject is not a string, or is empty: those without a name would share one count. */
function subjectOf(subject: unknown): string {
  if (typeof subject === 'string' && subject !== '') return subject;
  throw withCode('ERR_ROLLGATE_INVALID_KEY', invalidOption('subject', 'a string of at least one character', subject));
}
