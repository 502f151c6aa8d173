import type { Awaitable, Clock, Decision, Store } from '@rollgate/core';
import {
  type Costs,
  guardStore,
  type Keys,
  keyAt,
  type Plan,
  type SettledCosts,
  type StoredKey,
  withCode,
} from '@rollgate/core/store';
import { peekedResults, resultsOf } from './check-results.js';
import { LeasedCheck } from './leased-check.js';
import { toLeasedDecision } from './leased-decision.js';
import { LeasedPlans } from './leased-plan.js';
import { LeasedReceipt } from './leased-receipt.js';
import {
  type CompleteStore,
  type LeasingStoreOptions,
  type ResolvedLeasingOptions,
  resolveLeasingOptions,
} from './leasing-store-options.js';
import { mapResult } from './map-result.js';
import { settleSpent } from './settle-spent.js';

/**
 * Decides in this process by units that it leases from another store. So one key allows millions of decisions a second, and most
 * decisions take no call to the store. In no window do all processes together allow more than the limit.
 *
 * It leases `rollingWindow` limits without `minDifference`, `countRejected` and `blockFor`, whose window is at least ten leases long. The store
 * decides all others, and keys with few decisions per lease.
 *
 * @throws TypeError or RangeError for an invalid option, with its name.
 * @example
 * ```ts
 * import { RateLimiter, rollingWindow } from '@rollgate/core';
 * import { LeasingStore } from '@rollgate/leasing';
 * import { RedisStore } from '@rollgate/redis';
 * import { Redis } from 'ioredis';
 *
 * const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost');
 * const store = new LeasingStore({ store: new RedisStore({ client: redis }), lease: '20ms' });
 * const limiter = new RateLimiter({ limits: rollingWindow({ limit: 10_000, window: '1s' }), store });
 * (await limiter.check('all')).allowed; // => true
 * await store.close();
 * redis.disconnect();
 * ```
 */
export class LeasingStore implements Store {
  /** That of the store, which all stores on it share. */
  readonly backend: object;
  /** The clock of the store, if it has one. */
  readonly clock: Clock | undefined;
  /** Applies the limiter's `timeout` and `onStoreError`. */
  readonly guard: NonNullable<Store['guard']>;
  /** Extends leases of slots, if the store has any. */
  declare readonly renew?: NonNullable<Store['renew']>;
  /** Frees slots, if the store has any. */
  declare readonly release?: NonNullable<Store['release']>;
  /** Like that of the store. */
  declare readonly partOf?: NonNullable<Store['partOf']>;
  /** Like that of the store. */
  declare readonly partOfReceipt?: NonNullable<Store['partOfReceipt']>;
  /** The queues of the store, for checks that are not leased. Callers of others wait in this process. */
  declare readonly waiting?: NonNullable<Store['waiting']>;
  /** Like that of the store. */
  declare readonly connectionTo?: NonNullable<Store['connectionTo']>;
  /** That of the store. Units that a process has leased count as used. */
  declare readonly inspection?: NonNullable<Store['inspection']>;
  readonly #options: ResolvedLeasingOptions;
  readonly #store: CompleteStore;
  readonly #plans: LeasedPlans;

  constructor(options: LeasingStoreOptions) {
    const resolved = resolveLeasingOptions(options);
    const { store } = resolved;
    this.#options = resolved;
    this.#store = store;
    this.#plans = new LeasedPlans(resolved);
    this.backend = store.backend ?? store;
    this.clock = store.clock;
    this.guard = store.guard ?? guardStore;
    if (store.renew) this.renew = (receipts) => this.#renew(receipts);
    if (store.release) this.release = (receipt) => store.release!(innerOf(receipt));
    if (store.waiting) {
      const { waiting } = store;
      this.waiting = { wait: async (call) => (this.#plans.of(call.plan) === null ? waiting.wait(call) : undefined) };
    }
    if (store.connectionTo) this.connectionTo = (part) => store.connectionTo!(part);
    if (store.inspection) {
      const { inspection } = store;
      this.inspection = {
        options: { ...inspection.options, leasing: 'true' },
        listKeys: (plan, ...rest) => {
          const inner = this.#innerPlan(plan);
          const nameOf = ({ limit }: StoredKey) =>
            plan.rules[inner.rules.findIndex(({ name }) => name === limit)]!.name;
          return mapResult(inspection.listKeys(inner, ...rest), (page) => ({
            ...page,
            keys: page.keys.map((found) => ({ ...found, limit: nameOf(found) })),
          }));
        },
        writeNote: (...note) => inspection.writeNote(...note),
        readNotes: () => inspection.readNotes(),
      };
    }
    if (store.partOf) this.partOf = (plan, keys) => store.partOf!(this.#innerPlan(plan), keys);
    if (store.partOfReceipt) this.partOfReceipt = (receipt) => store.partOfReceipt!(innerOf(receipt));
  }

  /** Implements {@link Store.check}. Returns at once if this process holds the units. */
  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const leased = this.#plans.of(plan);
    if (leased === null) return this.#store.check(plan, keys, costs);
    const nowMs = this.#options.clock.now();
    return new LeasedCheck(this.#store, leased, keys, costs, nowMs).run(nowMs);
  }

  /** Implements {@link Store.peek}. What this process holds counts as free. */
  peek(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const leased = this.#plans.of(plan);
    if (leased === null) return this.#store.peek(plan, keys, costs);
    return mapResult(this.#store.peek(leased.inner, keys, costs), (decision) => {
      const results = peekedResults(leased, decision, keys, costs, this.#options.clock.now());
      return toLeasedDecision(plan, results, undefined, costs);
    });
  }

  /** Implements {@link Store.charge}. */
  charge(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const leased = this.#plans.of(plan);
    if (leased === null) return this.#store.charge(plan, keys, costs);
    if (plan.rules.some(({ limit }) => limit.givesBack)) throw noCredit();
    return mapResult(this.#store.charge(leased.inner, keys, costs), (decision) =>
      toLeasedDecision(plan, resultsOf(leased, decision), undefined, 1),
    );
  }

  /** Implements {@link Store.settle}. Units of a lease that is still open return to it, so this process may spend them again. */
  settle(receipt: unknown, costs: SettledCosts): Awaitable<void> {
    return receipt instanceof LeasedReceipt
      ? settleSpent(this.#store, receipt, costs)
      : this.#store.settle(receipt, costs);
  }

  /** Implements {@link Store.refund}. */
  refund(receipt: unknown): Awaitable<void> {
    return receipt instanceof LeasedReceipt ? this.settle(receipt, 0) : this.#store.refund(receipt);
  }

  /**
   * Implements {@link Store.reset}. Units that other processes hold are still spent until their leases end, in addition to the full
   * quota.
   */
  reset(plan: Plan, keys: Keys): Awaitable<void> {
    const leased = this.#plans.of(plan);
    leased?.accounts.forEach((accounts, index) => {
      accounts?.find(keyAt(keys, index))?.reset();
    });
    return this.#store.reset(this.#innerPlan(plan), keys);
  }

  /** Implements {@link Store.namesOf}. */
  namesOf(plan: Plan, keys: Keys): readonly string[] {
    const inner = this.#innerPlan(plan);
    const toName = (namespace: string, index: number) => `${namespace}\n${keyAt(keys, index)}`;
    return this.#store.namesOf?.(inner, keys) ?? inner.rules.map(({ namespace }, index) => toName(namespace, index));
  }

  /** Implements {@link Store.namesOfReceipt}. */
  namesOfReceipt(receipt: unknown): readonly string[] {
    if (receipt instanceof LeasedReceipt) return this.namesOf(receipt.plan.outer, receipt.keys);
    return this.#store.namesOfReceipt?.(receipt) ?? [];
  }

  /** Returns all units that no action has spent to the store, then closes it. Call it before the process exits. */
  async close(): Promise<void> {
    await this.#plans.close();
    await this.#store.close?.();
  }

  /** Returns a copy of the leases of this process for debugging, by limit. */
  toJSON(): object {
    return JSON.parse(JSON.stringify(this.#plans));
  }

  async #renew(receipts: readonly unknown[]): Promise<readonly unknown[]> {
    const lost = new Set(await this.#store.renew!(receipts.map(innerOf)));
    return receipts.filter((receipt) => lost.has(innerOf(receipt)));
  }

  #innerPlan(plan: Plan): Plan {
    return this.#plans.of(plan)?.inner ?? plan;
  }
}

/** The receipt that the store knows. */
function innerOf(receipt: unknown): unknown {
  if (!(receipt instanceof LeasedReceipt)) return receipt;
  return receipt.inner ?? receipt.spent[0]!.lease.receipt;
}

/** Units that processes have leased count as used, and would be used twice if they came back. */
function noCredit(): TypeError {
  const message =
    'Expected `credit` to change limits that a LeasingStore does not lease, got one whose units processes hold. Use `refund` with the decision of a check, or `reset`';
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(message));
}
