import { type Awaitable, isThenable } from '../awaitable.js';
import type { Decision } from '../decision.js';
import type { Keys, Plan, Store } from '../store.js';
import { Deadlines } from './deadlines.js';
import { type Guard, GuardedCall } from './guarded-call.js';
import { decideInstead, FallbackReceipt, type OnStoreError } from './stand-in.js';
import { downError, type StoreError } from './store-error.js';
import { StoreHealth } from './store-health.js';

/**
 * A store whose every call is settled in time: by its answer, or when it fails, is late or known to be down, as the
 * policy says. Answers that come at once are passed on as they are; so is what is thrown at once, for that is misuse.
 */
export class GuardedStore implements Store {
  readonly #store: Store;
  readonly #policy: OnStoreError;
  readonly #guard: Guard;

  constructor(store: Store, timeoutMs: number, policy: OnStoreError) {
    this.#store = store;
    this.#policy = policy;
    this.#guard = { timeoutMs, deadlines: new Deadlines(timeoutMs), health: StoreHealth.of(store) };
  }

  check(plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    return this.#decide('check', plan, keys, cost);
  }

  peek(plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    return this.#decide('peek', plan, keys, cost);
  }

  /** Takes back what the store or the memory recorded. What a failed store was to take back stays recorded. */
  refund(receipt: unknown): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#guard.health.fallback.refund(receipt.receipt);
    return this.#inTime(this.#store.refund(receipt), rethrow);
  }

  /** Forgets the keys in the memory that stands in and in the store; rejects when it cannot, whatever the policy is. */
  reset(plan: Plan, keys: Keys): Awaitable<void> {
    if (this.#policy === 'fallback') this.#guard.health.fallback.reset(plan, keys);
    return this.#inTime(this.#store.reset(plan, keys), rethrow);
  }

  #decide(question: 'check' | 'peek', plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    if (this.#guard.health.isDown) {
      this.#probe(plan, keys, cost);
      return this.#decideInstead(downError(this.#guard.timeoutMs), question, plan, keys, cost);
    }
    return this.#inTime(this.#store[question](plan, keys, cost), (error) =>
      this.#decideInstead(error, question, plan, keys, cost),
    );
  }

  #decideInstead(error: StoreError, question: 'check' | 'peek', plan: Plan, keys: Keys, cost: number): Decision {
    return decideInstead(this.#policy, error, () => this.#guard.health.fallback, question, plan, keys, cost);
  }

  /** The answer, or what `instead` makes of its failure. A late answer is dropped; that it came is noted. */
  #inTime<Answer>(answer: Awaitable<Answer>, instead: (error: StoreError) => Answer): Awaitable<Answer> {
    if (!isThenable(answer)) return answer;
    return new Promise((resolve, reject) => {
      const call = new GuardedCall(this.#guard, resolve, reject, instead);
      answer.then(
        (value) => call.answer(value),
        (thrown) => call.fail(thrown),
      );
    });
  }

  /** Asks a store that is down whether it is back, beside the call that is answered by the policy. Records nothing. */
  #probe(plan: Plan, keys: Keys, cost: number): void {
    if (!this.#guard.health.takeProbe()) return;
    new Promise((resolve) => resolve(this.#store.peek(plan, keys, cost))).then(
      () => {
        this.#guard.health.probed();
        this.#guard.health.answered();
      },
      () => this.#guard.health.probed(),
    );
  }
}

function rethrow(error: StoreError): never {
  throw error;
}
