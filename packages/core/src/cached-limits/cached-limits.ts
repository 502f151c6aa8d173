import { createPlan } from '../plan/create-plan.js';
import type { Limits, OneKey } from '../plan/keys-and-limits.js';
import { toParsedLimits } from '../plan/parse-limits.js';
import { type Clock, monotonicClock, scheduleAfter, validateClock } from '../time/clock.js';
import type { Awaitable } from '../util/awaitable.js';
import { channel } from '../util/platform.js';
import { type Duration, parseDuration } from '../validation/duration.js';
import { withCode } from '../validation/error-codes.js';
import { invalidOption, messageOf, validateIntegerBetween, validateOptionNames } from '../validation/validate.js';
import { warnOnce } from '../validation/warn-once.js';

/** The options of the function `cachedLimits`. Durations are milliseconds, or text such as `'1m'`. */
export interface CachedLimitsOptions<Given extends Limits = Limits> {
  /**
   * Returns the limits of a key from where the app keeps them: limits, text such as `'100/1m'`, or `undefined` for a key without
   * limits of its own. Calls for the same key share one load, and only `refresh` starts another one meanwhile.
   */
  load: (key: string) => Awaitable<Given | undefined>;
  /**
   * The limits of keys without their own, and of new keys while `load` fails.
   *
   * @defaultValue none. Such keys are then an error.
   */
  defaultLimits?: Given | undefined;
  /**
   * For how long loaded limits are used without another load.
   *
   * @defaultValue `'1m'`
   */
  ttl?: Duration | undefined;
  /**
   * For how long after that the old limits are used while new ones load, so that no call waits for them. 0 makes each wait.
   *
   * @defaultValue `'1h'`
   */
  staleFor?: Duration | undefined;
  /**
   * How long a call waits for a load if there are other limits to use, the last ones or `defaultLimits`. Keep it below the
   * `timeout` of an adapter, which ends the request.
   *
   * @defaultValue `'250ms'`
   */
  maxWait?: Duration | undefined;
  /**
   * How long a load may take. A load that takes longer has failed.
   *
   * @defaultValue `'5s'`
   */
  timeout?: Duration | undefined;
  /**
   * The number of keys with limits of their own that are kept, and likewise of those without. A further key evicts the one that
   * was loaded first.
   *
   * @defaultValue 10,000
   */
  max?: number | undefined;
  /** @defaultValue the monotonic clock of the process */
  clock?: Clock | undefined;
}

/** Limits by key, for the option `limits` of an adapter or of a call. */
export interface CachedLimits<Given extends Limits = Limits> {
  /**
   * Returns the limits of a key: at once if they are known, otherwise by a promise.
   *
   * @throws The error of `load` for a new key without `defaultLimits`. The promise rejects with it.
   */
  (key: OneKey): Awaitable<Given>;
  /**
   * Loads the limits of a key again, for example after a change. Resolves when they are in force, or when `load` has failed and
   * the last ones stay. Never rejects. Without a key, the next call of each key waits for its new limits.
   */
  refresh(key?: OneKey): Promise<void>;
}

/** Published on the channel `rollgate:limits:failure` when the limits of a key cannot be loaded. */
export interface LimitsFailure {
  /** The key whose limits could not be loaded. */
  readonly key: string;
  /** The error of `load`. */
  readonly error: unknown;
  /** Which limits decide instead. `'none'` if the call fails. */
  readonly used: 'last' | 'default' | 'none';
}

/** After a failure, `load` has this long to recover before the next call for the same key. */
const RETRY_MS = 1000;

const NO_LIMITS =
  'Expected `load` to return limits, got undefined. Set `defaultLimits` for keys without limits of their own';

const TOO_SLOW = 'Expected `load` to settle within `timeout`';

const failures = channel('rollgate:limits:failure');

/**
 * Keeps the limits of customers, which a database or a service knows, so that few calls wait for them. If `load` fails, the
 * last limits of the key stay in force.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { cachedLimits } from '@rollgate/core/cached-limits';
 *
 * const table = new Map([['acme', '1000/1m']]);
 * const limits = cachedLimits({
 *   load: async (customer) => table.get(customer),
 *   defaultLimits: '100/1m',
 * });
 *
 * const limiter = new RateLimiter({ limits: null });
 * const check = async (customer: string) => limiter.check(customer, { limits: await limits(customer) });
 * (await check('acme')).limit; // => 1000
 * (await check('other')).limit; // => 100
 *
 * table.set('acme', '5000/1m');
 * await limits.refresh('acme');
 * (await check('acme')).limit; // => 5000
 * ```
 */
export function cachedLimits<const Given extends Limits>(options: CachedLimitsOptions<Given>): CachedLimits<Given> {
  const cache = new LimitsCache(options);
  return Object.assign((key: OneKey) => cache.get(String(key)), {
    refresh: (key?: OneKey) => cache.refresh(key === undefined ? undefined : String(key)),
  });
}

/** What is known about a key. */
interface Known<Given> {
  readonly limits: Given;
  /** When they were loaded. `-Infinity` if the next call has to wait for others. */
  loadedMs: number;
  /** `load` is not called before. */
  retryMs: number;
  /** Whether the last load failed. Then no call waits for the next one. */
  isFailing: boolean;
}

/** @throws TypeError, RangeError naming the invalid option. */
function resolveOptions<Given extends Limits>(options: CachedLimitsOptions<Given>) {
  validateOptionNames('cachedLimits', options, [
    ...['load', 'defaultLimits', 'ttl', 'staleFor', 'maxWait', 'timeout', 'max', 'clock'],
  ]);
  const { load, defaultLimits, ttl = '1m', staleFor = '1h', maxWait = '250ms', timeout = '5s' } = options;
  const { max = 10_000, clock = monotonicClock } = options;
  if (typeof load !== 'function') throw invalidOption('load', 'a function', load);
  validateClock(clock);
  return {
    load,
    clock,
    defaultLimits: defaultLimits === undefined ? undefined : validateLimits(defaultLimits),
    ttlMs: parseDuration('ttl', ttl),
    staleMs: staleFor === 0 ? 0 : parseDuration('staleFor', staleFor),
    maxWaitMs: parseDuration('maxWait', maxWait),
    timeoutMs: parseDuration('timeout', timeout),
    max: validateIntegerBetween('max', max, 1, Number.MAX_SAFE_INTEGER),
  };
}

class LimitsCache<Given extends Limits> {
  readonly #options: ReturnType<typeof resolveOptions<Given>>;
  /** The keys with limits of their own, in the order of their loads. */
  readonly #own = new Map<string, Known<Given>>();
  /** All other keys. Separate, because clients may choose them, and must not evict the limits of others. */
  readonly #others = new Map<string, Known<Given>>();
  /** The newest load of each key whose limits are on their way. */
  readonly #open = new Map<string, Promise<Given>>();

  constructor(options: CachedLimitsOptions<Given>) {
    this.#options = resolveOptions(options);
  }

  get(key: string): Awaitable<Given> {
    const known = this.#own.get(key) ?? this.#others.get(key);
    if (known === undefined)
      return this.#waitFor(this.#open.get(key) ?? this.#reload(key), this.#options.defaultLimits);
    const nowMs = this.#options.clock.now();
    const ageMs = nowMs - known.loadedMs;
    if (ageMs < this.#options.ttlMs || nowMs < known.retryMs) return known.limits;
    const loaded = this.#open.get(key) ?? this.#reload(key);
    if (known.isFailing || ageMs < this.#options.ttlMs + this.#options.staleMs) return known.limits;
    return this.#waitFor(loaded, known.limits);
  }

  async refresh(key?: string): Promise<void> {
    if (key !== undefined) {
      await this.#reload(key).catch(() => {}); // The event has the error.
      return;
    }
    this.#open.clear();
    for (const known of [...this.#own.values(), ...this.#others.values()]) {
      known.loadedMs = known.retryMs = -Infinity;
      known.isFailing = false;
    }
  }

  /** Waits for a load, but not for long if there are other limits. */
  #waitFor(loaded: Promise<Given>, otherwise: Given | undefined): Promise<Given> {
    if (otherwise === undefined) return loaded;
    return new Promise((resolve, reject) => {
      const cancel = scheduleAfter(this.#options.maxWaitMs, () => resolve(otherwise), this.#options.clock);
      loaded.then(resolve, reject).finally(cancel);
    });
  }

  /** Loads the limits of a key, in place of a load that is open. Rejects only if there are no limits to use instead. */
  #reload(key: string): Promise<Given> {
    const load: Promise<Given> = this.#loadInTime(key).then(
      (limits) => this.#conclude(key, load, limits, this.#options.clock.now(), -Infinity),
      (error) => {
        const last = this.#own.get(key) ?? this.#others.get(key);
        const limits = last?.limits ?? this.#options.defaultLimits;
        report({ key, error, used: last ? 'last' : limits === undefined ? 'none' : 'default' });
        if (limits !== undefined) {
          return this.#conclude(key, load, limits, last?.loadedMs ?? -Infinity, this.#options.clock.now() + RETRY_MS);
        }
        if (this.#open.get(key) === load) this.#open.delete(key);
        throw error;
      },
    );
    load.catch(() => {}); // A call that gets the old limits does not wait for it.
    this.#open.set(key, load);
    return load;
  }

  /** Keeps what the newest load of a key has brought. An older one gets what the newer one brings. */
  #conclude(key: string, load: Promise<Given>, limits: Given, loadedMs: number, retryMs: number): Awaitable<Given> {
    const open = this.#open.get(key);
    if (open !== load) return open ?? this.get(key);
    this.#open.delete(key);
    this.#own.delete(key); // So that it becomes the last one.
    this.#others.delete(key);
    const known = limits === this.#options.defaultLimits ? this.#others : this.#own;
    if (known.size === this.#options.max) known.delete(known.keys().next().value!);
    known.set(key, { limits, loadedMs, retryMs, isFailing: retryMs > -Infinity });
    return limits;
  }

  /** @throws The error of `load`, or one that says what is wrong with its result. The promise rejects with it. */
  async #loadInTime(key: string): Promise<Given> {
    let cancel = () => {};
    const timeout = new Promise<never>((_, reject) => {
      const fail = () => reject(withCode('ERR_ROLLGATE_FUNCTION_TIMEOUT', new Error(TOO_SLOW)));
      cancel = scheduleAfter(this.#options.timeoutMs, fail, this.#options.clock);
    });
    try {
      const limits = (await Promise.race([this.#options.load(key), timeout])) ?? this.#options.defaultLimits;
      if (limits !== undefined) return validateLimits(limits);
      throw withCode('ERR_ROLLGATE_MISSING_LIMITS', new TypeError(NO_LIMITS));
    } finally {
      cancel();
    }
  }
}

/** Returns the limits without text, so that a mistake in the source fails the load, and not each check. */
function validateLimits<Given extends Limits>(limits: Given): Given {
  const parsed = toParsedLimits(limits);
  createPlan('', parsed);
  return parsed as unknown as Given;
}

function report(failure: LimitsFailure): void {
  if (failures.hasSubscribers) failures.publish(failure);
  else {
    const consequence =
      failure.used === 'none' ? 'and there are no others, so the call fails' : `so its ${failure.used} ones decide`;
    warnOnce(
      'ROLLGATE_LIMITS_FAILED',
      `The limits of a key could not be loaded, ${consequence}: ${messageOf(failure.error)}`,
    );
  }
}
