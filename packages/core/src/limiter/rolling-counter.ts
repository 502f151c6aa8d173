import { CallGuard, RETHROW } from '../failure/call-guard.js';
import { MAX_BUCKETS } from '../limits/bucket-counts.js';
import { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import { isMemoryStore, MemoryStore } from '../memory/memory-store.js';
import type { CountingStore } from '../store/store.js';
import {
  DEFAULT_TIMEOUT_MS,
  type Duration,
  parseDuration,
  parseInterval,
  parseTimeout,
} from '../validation/duration.js';
import { withCode } from '../validation/error-codes.js';
import {
  hasMethods,
  invalidNumber,
  invalidOption,
  validateOptionNames,
  validatePositiveInteger,
  validateString,
} from '../validation/validate.js';

/** The options of {@link RollingCounter}. */
export interface RollingCounterOptions {
  /**
   * Where the counter keeps its counts.
   *
   * @defaultValue a {@link MemoryStore} that belongs to this counter
   */
  store?: CountingStore | undefined;
  /**
   * Separates the subjects of counters that share a store.
   *
   * @defaultValue `'rollgate'`
   */
  prefix?: string | undefined;
  /**
   * The length of a bucket, which is the precision of each interval. Milliseconds, or text such as `'5s'`.
   *
   * @defaultValue 5 seconds
   */
  bucketInterval?: Duration | undefined;
  /**
   * The longest interval that `count` accepts, at most 3,600 buckets. Milliseconds, or text such as `'10m'`.
   *
   * @defaultValue 10 minutes
   */
  bucketSpan?: Duration | undefined;
  /**
   * How long the counter keeps a subject after its last addition, `bucketSpan` or longer. Milliseconds, or text such as
   * `'20m'`.
   *
   * @defaultValue 20 minutes
   */
  subjectExpiry?: Duration | undefined;
  /**
   * How long one call of `store` may take, in milliseconds or as text such as `'1s'`.
   *
   * @defaultValue 500 milliseconds
   */
  timeout?: Duration | undefined;
}

const OPTIONS = ['store', 'prefix', 'bucketInterval', 'bucketSpan', 'subjectExpiry', 'timeout'];

/**
 * Counts without deciding: how often something happened in the last minute, or in any interval up to `bucketSpan`.
 *
 * It counts in a ring of time buckets. A bucket counts in full as long as part of it lies in the interval. So a count
 * is never too low, and never higher than that of an interval one bucket longer.
 *
 * @throws TypeError, RangeError at construction, naming the invalid option.
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
    validateOptionNames('RollingCounter', options, OPTIONS);
    const { store, prefix = 'rollgate', bucketInterval = '5s', bucketSpan = '10m', subjectExpiry = '20m' } = options;
    if (store !== undefined && !hasMethods(store, ['addCount'])) {
      throw invalidOption('store', 'a store with the method `addCount`, such as `new MemoryStore()`', store);
    }
    const widthMs = parseInterval('bucketInterval', bucketInterval);
    const spanMs = parseInterval('bucketSpan', bucketSpan);
    const expiryMs = parseInterval('subjectExpiry', subjectExpiry);
    if (spanMs < widthMs || spanMs > widthMs * MAX_BUCKETS) {
      throw invalidNumber('bucketSpan', `1 to ${MAX_BUCKETS} times \`bucketInterval\``, bucketSpan);
    }
    if (expiryMs < spanMs) throw invalidNumber('subjectExpiry', '`bucketSpan` or longer', subjectExpiry);
    this.#counter = new CounterAlgorithm(
      validateString('prefix', prefix),
      widthMs * 1000,
      spanMs * 1000,
      expiryMs * 1000,
    );
    const timeoutMs = parseTimeout(options.timeout ?? DEFAULT_TIMEOUT_MS);
    this.#ownStore = store === undefined ? new MemoryStore() : undefined;
    const counting = store ?? (this.#ownStore as MemoryStore);
    this.#store = isMemoryStore(counting) ? counting : guardCounts(counting, timeoutMs);
  }

  /**
   * Adds `units` to the subject's count.
   *
   * @throws TypeError, RangeError for an invalid subject or number. A `StoreError` if the store fails. The promise
   * rejects with it.
   */
  async add(subject: string, units = 1): Promise<void> {
    await this.#store.addCount(this.#counter, requireSubject(subject), validatePositiveInteger('units', units), 0);
  }

  /**
   * Returns the units of the subject in the last `interval`, in milliseconds or as text such as `'1m'`.
   *
   * @throws TypeError, RangeError for an invalid subject, or for an interval longer than `bucketSpan`. A `StoreError`
   * if the store fails. The promise rejects with it.
   */
  async count(subject: string, interval: Duration): Promise<number> {
    return this.#store.addCount(this.#counter, requireSubject(subject), 0, this.#intervalMicros(interval));
  }

  /** Adds `units` and returns the new {@link count}, in one atomic step. */
  async addCount(subject: string, interval: Duration, units = 1): Promise<number> {
    validatePositiveInteger('units', units);
    return this.#store.addCount(this.#counter, requireSubject(subject), units, this.#intervalMicros(interval));
  }

  /** Closes the counter's own store. A store that you passed to the constructor stays open. */
  async close(): Promise<void> {
    this.#ownStore?.close();
  }

  #intervalMicros(interval: Duration): number {
    const micros = parseDuration('interval', interval) * 1000;
    if (micros <= this.#counter.spanMicros) return micros;
    throw invalidNumber('interval', `at most \`bucketSpan\` (${this.#counter.spanMicros / 1000} ms)`, interval);
  }
}

/**
 * @throws TypeError if the subject is not a string or is empty, because all subjects without a name would share one
 * count.
 */
function requireSubject(subject: unknown): string {
  if (typeof subject === 'string' && subject !== '') return subject;
  throw withCode('ERR_ROLLGATE_INVALID_KEY', invalidOption('subject', 'a string of at least one character', subject));
}

type CountCall = Parameters<CountingStore['addCount']>;

/** Wraps a counting store, so that each call settles by its deadline. Counts have no fallback. */
function guardCounts(store: CountingStore, timeoutMs: number): CountingStore {
  const counts = new CallGuard<CountCall, number>(store, timeoutMs, {
    partOf: store.partOfSubject && (([counter, subject]) => store.partOfSubject!(counter, subject)),
    send: (call) => store.addCount(...call),
    onlyReads: ([, , units]) => units === 0,
    // With 0 units, it only counts.
    probe: ([counter, subject, , intervalMicros]) => store.addCount(counter, subject, 0, intervalMicros),
    ...RETHROW,
  });
  return { addCount: (...call) => counts.run(call) };
}
