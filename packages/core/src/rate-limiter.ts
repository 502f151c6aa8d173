import type { Awaitable } from './awaitable.js';
import { refundInBackground } from './background-refund.js';
import { createPlan, type Key, type Limits, type NameOf, resolveKeys } from './create-plan.js';
import { type Decision, NO_DECISION, takeReceipt } from './decision.js';
import { type Duration, parseDuration } from './duration.js';
import { withCode } from './error-codes.js';
import { DEFAULT_TIMEOUT_MS, parseTimeout } from './failure/deadlines.js';
import { ON_STORE_ERROR, type OnStoreError } from './failure/fallback.js';
import { GuardedStore } from './failure/guarded-store.js';
import type { StoreError } from './failure/store-error.js';

import { isMemoryStore, MemoryStore } from './memory-store.js';
import type { Plan } from './plan.js';
import { type DecisionEventOf, hasSubscribers, publishDecision } from './publish-decision.js';
import type { Store } from './store.js';
import { hasMethods, invalidOption, knownOptions, oneOf, positiveInteger, string } from './validate.js';
import { WaitQueues, waitForSlot, waitUntilAllowed } from './wait.js';
import { createDeadline } from './wait-deadline.js';

/** What {@link RateLimiter} takes. */
export interface RateLimiterOptions<Given extends Limits = Limits> {
  /** What is allowed: one limit, or a record of limits that decide together; `null` when each call brings its own. */
  limits: Given | null;
  /** Where the keys' state is kept; default a {@link MemoryStore} of this limiter's own. */
  store?: Store | undefined;
  /** Keeps the keys of limiters on one store apart; default `'rollgate'`. */
  prefix?: string | undefined;
  /** How long `store` may take to answer, at most; milliseconds or text. Default 500 ms. */
  timeout?: Duration | undefined;
  /**
   * What answers when `store` fails, or takes longer than `timeout`: `'throw'` rejects with a {@link StoreError},
   * `'fallback'` decides by the same limits in this process's memory, `'allow'` lets everything through and `'deny'`
   * nothing. Default `'throw'`.
   */
  onStoreError?: OnStoreError | undefined;
}

/** What {@link RateLimiter.check} and {@link RateLimiter.peek} take beside the key. */
export interface CheckOptions<Own extends Limits = Limits> {
  /** Units that the action takes; a positive safe integer, default 1. */
  cost?: number | undefined;
  /** The limits for this call in the place of the limiter's own: plans, tenants. */
  limits?: Own | undefined;
}

/** What {@link RateLimiter.wait} takes beside the key. */
export interface WaitOptions<Own extends Limits = Limits> extends CheckOptions<Own> {
  /** Ends the waiting; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long to wait at most; milliseconds or text. Default: as long as it takes. */
  timeout?: Duration | undefined;
}

/** Published on the channel `rollgate:decision` for every check, and on `rollgate:rejection` for every rejected one. */
export type DecisionEvent = DecisionEventOf<RateLimiter>;

// The names come from the limits alone, never from what the key or the expected answer happen to be.
type KeyOn<Own extends Limits> = NoInfer<Key<NameOf<Own>>>;
type DecisionOn<Own extends Limits> = NoInfer<Decision<NameOf<Own>>>;

const CHECK_OPTIONS = ['cost', 'limits'] as const;

/**
 * Decides who may act now.
 *
 * @throws TypeError, RangeError at construction, naming the option that is wrong.
 * @example
 * ```ts
 * import { RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({
 *   limits: {
 *     global: rollingWindow({ limit: 100, window: '30m' }),
 *     category: rollingWindow({ limit: 1, window: '30m' }),
 *   },
 * });
 * const first = await limiter.check({ global: 'all', category: 'errors' });
 * first.allowed; // => true
 * const second = await limiter.check({ global: 'all', category: 'errors' });
 * second.violated; // => ['category']
 * second.limits.global.remaining; // => 99
 * ```
 */
export class RateLimiter<Given extends Limits = Limits> {
  readonly #prefix: string;
  readonly #plan: Plan | undefined;
  readonly #store: Store;
  readonly #ownsStore: boolean;
  readonly #queues = new WaitQueues();
  /** The plans of limits that came with a call: a user's plans are few, and checked often. */
  readonly #plans = new WeakMap<object, Plan>();

  constructor(options: RateLimiterOptions<Given>) {
    knownOptions('RateLimiter', options, ['limits', 'store', 'prefix', 'timeout', 'onStoreError']);
    const { store, prefix = 'rollgate', timeout = DEFAULT_TIMEOUT_MS, onStoreError = 'throw' } = options;
    if (store !== undefined && !hasMethods(store, ['check', 'peek', 'refund', 'reset'])) {
      throw invalidOption('store', 'a store such as `new MemoryStore()`', store);
    }
    this.#prefix = string('prefix', prefix);
    this.#plan = options.limits === null ? undefined : createPlan(prefix, options.limits);
    const timeoutMs = parseTimeout(timeout);
    const policy = oneOf('onStoreError', onStoreError, ON_STORE_ERROR);
    const isInMemory = store === undefined || isMemoryStore(store); // Never late, never out of reach.
    this.#store = isInMemory ? (store ?? new MemoryStore()) : new GuardedStore(store, timeoutMs, policy);
    this.#ownsStore = store === undefined;
  }

  /**
   * Decides and records, in one atomic step: in every limit when all allow it, else in none but those that
   * `countRejected`.
   *
   * @param key One key for all limits, or one for each.
   * @throws TypeError, RangeError (as a rejection) for a wrong key or option; a {@link StoreError} when the store failed and
   * the policy is to throw.
   */
  check<Own extends Limits = Given>(key: KeyOn<Own>, options?: CheckOptions<Own>): Promise<DecisionOn<Own>> {
    try {
      const decision = this.decide(key, options);
      // An `async` method would put a second promise around a store's own.
      return decision instanceof Promise ? decision : Promise.resolve(decision);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * As {@link check}, but answers at once when the store does: a {@link MemoryStore} always, one on a network only with
   * what is known already. For code, such as an adapter, to which a promise for each action is too dear.
   *
   * @throws TypeError, RangeError for a wrong key or option, at once; so is a {@link StoreError} while the store is known
   * to be down and the policy is to throw.
   */
  decide<Own extends Limits = Given>(key: KeyOn<Own>, options?: CheckOptions<Own>): Awaitable<DecisionOn<Own>> {
    const plan = this.#planFor(options);
    const cost = costOf(options);
    const decision = this.#store.check(plan, resolveKeys(plan, key), cost);
    return (hasSubscribers() ? publishDecision(this, key, cost, decision) : decision) as Awaitable<DecisionOn<Own>>;
  }

  /** The same question as {@link check}, recording nothing. */
  async peek<Own extends Limits = Given>(key: KeyOn<Own>, options?: CheckOptions<Own>): Promise<DecisionOn<Own>> {
    const plan = this.#planFor(options);
    return this.#store.peek(plan, resolveKeys(plan, key), costOf(options)) as Awaitable<DecisionOn<Own>>;
  }

  /**
   * Gives back exactly what the check with this decision recorded. Harmless twice, and harmless late: what has left
   * the window, or was reset, is not given back. A rejected attempt that `countRejected` recorded stays recorded.
   *
   * @throws TypeError when `decision` is not one that a limiter made.
   */
  async refund(decision: Decision): Promise<void> {
    const receipt = takeReceipt(decision);
    if (receipt === NO_DECISION) {
      throw withCode('ERR_ROLLGATE_FOREIGN_DECISION', invalidOption('decision', 'a decision of `check`', decision));
    }
    // A rejected attempt may have taken the place of an older hit: without both, one too many would be allowed.
    if (receipt !== undefined && decision.allowed) await this.#store.refund(receipt);
  }

  /** Forgets a key: its next action is as its first. Takes the `limits` of a call as {@link check} does. */
  async reset<Own extends Limits = Given>(key: KeyOn<Own>, options?: Pick<CheckOptions<Own>, 'limits'>): Promise<void> {
    const plan = this.#planFor(options);
    await this.#store.reset(plan, resolveKeys(plan, key));
  }

  /**
   * Waits until the action is allowed, and records it: for work that goes out, such as calls of an API. Those who wait
   * for one key at this limiter are let through in the order of their coming, and with a queue such as `leakyBucket`
   * each at its turn (the decision's `delayMs` have passed then). Waiting counts no attempt, also with `countRejected`.
   * Who gives up before its turn gives its place back.
   *
   * @throws RangeError when it can never be allowed, its cost being above a limit; a `TimeoutError` when `timeout`
   * passes, or as soon as it is clear that it will; the signal's reason when it aborts.
   */
  async wait<Own extends Limits = Given>(key: KeyOn<Own>, options: WaitOptions<Own> = {}): Promise<DecisionOn<Own>> {
    knownOptions('wait', options, [...CHECK_OPTIONS, 'signal', 'timeout']);
    const { signal, timeout, ...checkOptions } = options;
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw invalidOption('signal', 'an AbortSignal', signal);
    const timeoutMs = timeout === undefined ? Infinity : parseDuration('timeout', timeout);
    const plan = this.#planFor(checkOptions);
    const line = JSON.stringify([plan.prefix, resolveKeys(plan, key)]);
    const deadlineMs = performance.now() + timeoutMs;
    const deadline = createDeadline(signal, timeoutMs);
    try {
      const decision = await this.#queues.enqueue(line, deadline.signal, () =>
        waitUntilAllowed(
          () => this.peek(key, checkOptions),
          () => this.check(key, checkOptions),
          deadlineMs,
          deadline.signal,
        ),
      );
      // Out of the line: those behind take their places in the queue meanwhile.
      await waitForSlot(decision, () => refundInBackground(this, decision), deadlineMs, deadline.signal);
      return decision;
    } finally {
      deadline.dispose();
    }
  }

  /** Closes the store if this limiter made it; a store that was passed in stays with who made it. */
  async close(): Promise<void> {
    if (this.#ownsStore) await this.#store.close?.();
  }

  #planFor(options: CheckOptions | undefined): Plan {
    return options === undefined ? this.#ownPlan() : this.#planOfCall(options);
  }

  #ownPlan(): Plan {
    if (this.#plan !== undefined) return this.#plan;
    const message = 'Expected `limits` in the options of this call: the limiter has none of its own';
    throw withCode('ERR_ROLLGATE_MISSING_LIMITS', new TypeError(message));
  }

  #planOfCall(options: CheckOptions): Plan {
    knownOptions('check', options, CHECK_OPTIONS);
    const { limits } = options;
    if (limits === undefined) return this.#ownPlan();
    let plan = this.#plans.get(limits);
    if (plan === undefined) {
      plan = createPlan(this.#prefix, limits);
      this.#plans.set(limits, plan);
    }
    return plan;
  }
}

function costOf(options: CheckOptions | undefined): number {
  return options?.cost === undefined ? 1 : positiveInteger('cost', options.cost);
}
