import { type Awaitable, type Decision, manualClock, type RateLimiter, type Store } from '@rollgate/core';
import { yieldToEventLoop } from './yield-to-event-loop.js';

const controls = new WeakMap<RateLimiter, LeaseControl>();

/**
 * Lets a test determine when a limiter renews its leases. The limiter's timers follow a clock that stands still in between.
 * The store keeps its own clock.
 */
export class LeaseControl {
  readonly #clock = manualClock();
  readonly #store: Store;
  #renewed: Awaitable<unknown>;
  #lost: Decision[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** The control of a limiter on a store whose leases end. */
  static of(limiter: RateLimiter): LeaseControl | undefined {
    return controls.get(limiter);
  }

  /** The store for the limiter. */
  createStore(): Store {
    const renew: Store['renew'] = (receipts) => {
      const renewed = this.#store.renew!(receipts);
      this.#renewed = renewed;
      return renewed;
    };
    const own: Partial<Record<string | symbol, unknown>> = { clock: this.#clock, renew };
    return new Proxy(this.#store, {
      get(store, name) {
        if (Object.hasOwn(own, name)) return own[name];
        const value: unknown = Reflect.get(store, name, store);
        return typeof value === 'function' ? value.bind(store) : value;
      },
    });
  }

  /** Assigns this control to the limiter on its store. */
  attach(limiter: RateLimiter): void {
    controls.set(limiter, this);
  }

  /** Records a lost lease. */
  addLoss(decision: Decision): void {
    this.#lost.push(decision);
  }

  /** Renews all open leases, which have this length. Resolves to the decisions whose leases are lost. */
  async renew(leaseMs: number): Promise<readonly Decision[]> {
    this.#lost = [];
    this.#clock.advance(leaseMs / 3);
    await this.#renewed;
    await yieldToEventLoop(); // The limiter gets the result after this one.
    return this.#lost;
  }
}
