import type { Decision } from '../decision/decision.js';
import type { RecordedHit } from '../decision/receipt.js';
import { guardStore } from '../failure/guarded-store.js';
import { check } from '../operations/decide.js';
import { StateStore } from '../operations/state-store.js';
import { type States, toPlaces } from '../operations/states.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import { wakeWaiters } from '../store/quota-waiters.js';
import type { CountingStore, Store, StoreConnection, StoreInspection } from '../store/store.js';
import { toStoredKeys } from '../store/stored-key.js';
import { type Clock, monotonicClock, readMicros } from '../time/clock.js';
import { type Awaitable, mapAwaitable } from '../util/awaitable.js';
import { withCode } from '../validation/error-codes.js';
import {
  formatValue,
  hasMethods,
  invalidOption,
  validateOptionalFunction,
  validateOptionNames,
} from '../validation/validate.js';
import { TableInspection } from './table-inspection.js';
import { type CreateStoreOptions, Transactions, toStorageKey } from './transactions.js';

const OPTIONS = ['transact', 'list', 'clock', 'backend', 'connectionTo', 'subscribe', 'close'] as const;

/**
 * Creates a store from one function that reads and writes numbers. The store has all algorithms, checks of several
 * limits, settlements, refunds, resets and rolling counters. It returns a promise when `transact` does.
 *
 * @throws TypeError, RangeError naming the invalid option.
 *
 * @example
 * ```ts
 * import { RateLimiter, rollingWindow } from '@rollgate/core';
 * import { createStore } from '@rollgate/core/store';
 *
 * const rows = new Map<string, number[]>(); // Use a table of your database instead.
 * const store = createStore({
 *   transact(keys, update) {
 *     const changes = update(keys.map((key) => rows.get(key)));
 *     for (const [index, key] of keys.entries()) {
 *       const change = changes[index];
 *       if (change === null) rows.delete(key);
 *       else if (change !== undefined) rows.set(key, [...change.numbers]);
 *     }
 *   },
 * });
 *
 * const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }), store });
 * (await limiter.check('ann')).allowed; // => true
 * (await limiter.check('ann')).allowed; // => false
 * ```
 */
export function createStore(options: CreateStoreOptions): Store & CountingStore {
  validateOptionNames('createStore', options, OPTIONS);
  const { clock, backend } = options;
  if (!hasMethods(options, ['transact'])) throw invalidOption('transact', 'a function', options.transact);
  if (clock !== undefined && clock !== 'database' && !hasMethods(clock, ['now'])) {
    throw invalidOption('clock', "an object with a method `now` or 'database'", clock);
  }
  if (backend !== undefined && backend !== Object(backend)) throw invalidOption('backend', 'an object', backend);
  for (const name of ['list', 'connectionTo', 'subscribe', 'close'] as const)
    validateOptionalFunction(name, options[name]);
  return new TransactionalStore(options);
}

/** The store of {@link createStore}, for packages whose stores add methods. Several processes may use it, so it renews leases. */
export class TransactionalStore extends StateStore implements Store {
  readonly guard = guardStore;
  readonly clock: Clock | undefined;
  readonly backend: object;
  declare readonly connectionTo?: () => StoreConnection;
  declare readonly close?: () => Awaitable<void>;
  /** For `keysOf` of `@rollgate/core/observe`, with the option `list`. */
  readonly inspection: StoreInspection | undefined;
  readonly #transactions: Transactions;

  constructor(options: CreateStoreOptions) {
    const { clock = monotonicClock } = options;
    const toNowMicros = clock === 'database' ? validateDatabaseTime : () => readMicros(clock);
    const transactions = new Transactions((...call) => options.transact(...call), toNowMicros);
    super(transactions);
    this.#transactions = transactions;
    this.clock = clock === 'database' ? undefined : clock;
    this.backend = options.backend ?? this;
    if (options.connectionTo !== undefined) this.connectionTo = () => options.connectionTo!();
    if (options.close !== undefined) this.close = () => options.close!();
    this.inspection = options.list && new TableInspection(options, toNowMicros);
    options.subscribe?.((keys) => wakeWaiters(this, () => keys));
  }

  check({ rules }: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const stored = toStoredKeys(keys);
    const transactions = this.#transactions;
    return transactions.run(toPlaces(rules, stored), 'records', (states) =>
      check(states, rules, stored, costs, transactions),
    );
  }

  /** A state has the name that it has in the database, because `subscribe` names states so. */
  override namesOf({ rules }: Plan, keys: Keys): string[] {
    return toPlaces(rules, toStoredKeys(keys)).map(({ rule, key }) => toStorageKey(rule, key));
  }

  override namesOfReceipt(receipt: unknown): string[] {
    return this.hitsOf(receipt).map(({ rule, key }) => toStorageKey(rule, key));
  }

  renew(receipts: readonly unknown[]): Awaitable<readonly unknown[]> {
    const leases = receipts.flatMap((receipt) =>
      this.hitsOf(receipt).flatMap((hit) => {
        return hit.rule.limit.renew && hit.wantedCost > 0 ? [{ receipt, hit }] : [];
      }),
    );
    if (leases.length === 0) return [];
    const places = leases.map(({ hit }) => hit);
    const renewed = this.#transactions.run(places, 'records', (states) =>
      leases.map(({ hit }) => renewLease(states, hit)),
    );
    // Only now, because `transact` may call `update` again.
    return mapAwaitable(renewed, (held) => {
      const lost = leases.filter((_, index) => held[index] === undefined).map(({ receipt }) => receipt);
      leases.forEach(({ hit }, index) => {
        Object.assign(hit, held[index]);
      });
      return [...new Set(lost)];
    });
  }
}

/** @throws TypeError unless the time that `transact` has passed to `update` is whole microseconds. */
function validateDatabaseTime(nowMicros: unknown): number {
  if (Number.isSafeInteger(nowMicros)) return nowMicros as number;
  const message = `Expected \`nowMicros\` of \`update\` to be whole microseconds, got ${formatValue(nowMicros)}. With \`clock: 'database'\`, pass the time of the transaction`;
  throw withCode('ERR_ROLLGATE_INVALID_CLOCK', new TypeError(message));
}

/** Extends a lease, or takes its slots again. Returns where the lease is then, or nothing if it is lost. */
function renewLease(states: States, hit: RecordedHit): Pick<RecordedHit, 'life' | 'atMicros'> | undefined {
  const { limit } = hit.rule;
  const { life, atMicros, wantedCost: cost } = hit;
  if (cost === 0) return { life, atMicros }; // It was released since the renewal began.
  const state = states.find(hit.rule, hit.key);
  const isSameLife = !state.isNew && state.life === life;
  // The period of a reservation is over, so there is nothing to lose.
  if (!isSameLife && !limit.holdsSlots) return { life, atMicros };
  if (state.isNew) states.begin(state, hit.rule, hit.key);
  // Ids are unique within a life, so in a later one the lease needs another id.
  const id = isSameLife || !limit.holdsSlots ? atMicros : limit.unusedId!(state, atMicros);
  const isHeld = limit.renew!(state, states.nowMicros, { ...hit, atMicros: id, cost });
  states.save(state, limit.expiresMicros(state));
  hit.moved = isHeld ? { life: state.life, atMicros: id } : undefined;
  return hit.moved;
}
