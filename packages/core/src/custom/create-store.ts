import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { decideAll } from '../decision/evaluate.js';
import { foreignDecision } from '../decision/foreign-decision-error.js';
import { toDecision } from '../decision/to-decision.js';
import { guardStore } from '../failure/guarded-store.js';
import { type Hit, holdsSlots } from '../limits/limit.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import {
  type Costs,
  costAt,
  type Keys,
  keyAt,
  type Plan,
  type Rule,
  type SettledCosts,
  settledCost,
} from '../plan/plan.js';
import type { CountingStore, Store } from '../store/store.js';
import { toStoredKey } from '../store/stored-key.js';
import { type Clock, monotonicClock } from '../time/clock.js';
import { hasMethods, invalidOption, validateOptionNames } from '../validation/validate.js';
import type { CreateStoreOptions } from './create-store-options.js';
import type { LeaseHit, StoredState } from './stored-state.js';
import { Transactions } from './transactions.js';

/** Increase it when the numbers of an algorithm change their meaning. Versions then have separate keys. */
const LAYOUT_VERSION = 1;

/**
 * Creates a store from one function that reads and writes numbers. The store has all algorithms, checks of several
 * limits, settlements, refunds, resets and rolling counters. It returns a promise when `transact` does.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function createStore(options: CreateStoreOptions): Store & CountingStore {
  return new TransactionalStore(options);
}

interface StoredHit extends Hit {
  readonly rule: Rule;
  readonly key: string;
  /** The life of the key that has the hit. A lease may move to a later one, and may get another id there. */
  life: number | undefined;
  atMicros: number;
  /** Of a lease, the units that a renewal takes back. A settlement or a release lowers them before it runs. */
  wantedCost: number;
  /** Where a renewal that runs has moved a lease, unless its transaction fails. */
  moved?: Pick<LeaseHit, 'life' | 'atMicros'> | undefined;
}

class Receipt {
  constructor(
    readonly store: TransactionalStore,
    readonly hits: readonly StoredHit[],
  ) {}
}

class TransactionalStore implements Store, CountingStore {
  readonly #transactions: Transactions;
  readonly clock: Clock;
  readonly guard = guardStore;

  constructor(options: CreateStoreOptions) {
    validateOptionNames('createStore', options, ['transact', 'clock']);
    const { clock = monotonicClock } = options;
    if (!hasMethods(options, ['transact'])) throw invalidOption('transact', 'a function', options.transact);
    if (!hasMethods(clock, ['now'])) throw invalidOption('clock', 'an object with a method `now`', clock);
    this.#transactions = new Transactions((keys, update) => options.transact(keys, update), clock);
    this.clock = clock;
  }

  check({ rules }: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const storageKeys = toStorageKeys(rules, keys);
    return this.#transactions.run(storageKeys, (states, nowMicros) => {
      const found = rules.map(({ limit }, index) => states[index]!.find(limit, nowMicros));
      const { allowed, results, hitsMicros } = decideAll(
        rules,
        found,
        nowMicros,
        costs,
        (index) => found[index] ?? states[index]!.create(rules[index]!.limit),
      );
      const hits = rules.flatMap((rule, index): StoredHit[] => {
        const atMicros = hitsMicros[index];
        if (atMicros === undefined && !allowed) return [];
        const hit = { rule, key: storageKeys[index]!, recordedMicros: nowMicros };
        if (atMicros === undefined) return [{ ...hit, life: undefined, atMicros: nowMicros, cost: 0, wantedCost: 0 }];
        states[index]!.write(rule.limit);
        const cost = costAt(costs, index);
        return [{ ...hit, life: states[index]!.life, atMicros, cost, wantedCost: cost }];
      });
      return toDecision(rules, results, hits.length === 0 ? undefined : new Receipt(this, hits), costs);
    });
  }

  peek({ rules }: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#transactions.run(toStorageKeys(rules, keys), (states, nowMicros) => {
      return peekAll(rules, states, nowMicros, costs);
    });
  }

  settle(receipt: unknown, costs: SettledCosts): Awaitable<void> {
    if (!(receipt instanceof Receipt) || receipt.store !== this) throw foreignDecision();
    const changes = receipt.hits.flatMap((hit) => {
      const cost = settledCost(costs, hit.rule) ?? hit.cost;
      return cost === hit.cost ? [] : [{ hit, cost }];
    });
    if (changes.length === 0) return undefined;
    const keys = changes.map(({ hit }) => hit.key);
    for (const { hit, cost } of changes) hit.wantedCost = Math.min(hit.wantedCost, cost);
    return this.#transactions.run(keys, (states, nowMicros) => {
      changes.forEach(({ hit, cost }, index) => {
        const { limit } = hit.rule;
        const state = states[index]!;
        const found = cost < hit.cost ? findHit(state, hit) : undefined;
        if (found !== undefined) state.refund(limit, nowMicros, found, cost);
        else if (cost > hit.cost && !holdsSlots(limit)) state.recordOverdraft(limit, nowMicros, cost - hit.cost);
      });
    });
  }

  charge({ rules }: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#transactions.run(toStorageKeys(rules, keys), (states, nowMicros) => {
      rules.forEach(({ limit }, index) => {
        const units = costAt(costs, index);
        if (units > 0 && !holdsSlots(limit)) states[index]!.recordOverdraft(limit, nowMicros, units);
      });
      return peekAll(rules, states, nowMicros, 1);
    });
  }

  refund(receipt: unknown): Awaitable<void> {
    return this.settle(receipt, 0);
  }

  namesOf({ rules }: Plan, keys: Keys): readonly string[] {
    return toStorageKeys(rules, keys);
  }

  namesOfReceipt(receipt: unknown): readonly string[] {
    return (receipt as Receipt).hits.map(({ key }) => key);
  }

  release(receipt: unknown): Awaitable<void> {
    if (!(receipt instanceof Receipt) || receipt.store !== this) throw foreignDecision();
    const leases = receipt.hits.filter(({ rule, cost }) => holdsSlots(rule.limit) && cost > 0);
    if (leases.length === 0) return undefined;
    const keys = leases.map(({ key }) => key);
    for (const hit of leases) hit.wantedCost = 0;
    return this.#transactions.run(keys, (states, nowMicros) => {
      leases.forEach((hit, index) => {
        const found = findHit(states[index]!, hit);
        if (found !== undefined) states[index]!.refund(hit.rule.limit, nowMicros, found, 0);
      });
    });
  }

  renew(receipts: readonly Receipt[]): Awaitable<readonly unknown[]> {
    const leases = receipts.flatMap((receipt) =>
      receipt.hits.flatMap((hit) => {
        const { limit } = hit.rule;
        return holdsSlots(limit) && hit.wantedCost > 0 ? [{ receipt, hit, limit }] : [];
      }),
    );
    if (leases.length === 0) return [];
    const keys = [...new Set(leases.map(({ hit }) => hit.key))];
    const indices = new Map(keys.map((key, index) => [key, index]));
    const renewed = this.#transactions.run(keys, (states, nowMicros) =>
      leases.map(({ hit, limit }) => {
        if (hit.wantedCost === 0) return hit; // It was released since the renewal began.
        const wanted = { ...hit, cost: hit.wantedCost };
        hit.moved = states[indices.get(hit.key)!]!.renew(limit, nowMicros, wanted);
        return hit.moved;
      }),
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

  reset({ rules }: Plan, keys: Keys): Awaitable<void> {
    return this.#transactions.run(toStorageKeys(rules, keys), (states) => {
      for (const state of states) state.change = null;
    });
  }

  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Awaitable<number> {
    return this.#transactions.run([toStorageKey(counter.namespace, subject)], ([state], nowMicros) => {
      const found = state!.find(counter, nowMicros);
      if (units === 0) return found === undefined ? 0 : counter.count(found, nowMicros, intervalMicros);
      const counts = found ?? state!.create(counter);
      counter.add(counts, nowMicros, units);
      state!.write(counter);
      return counter.count(counts, nowMicros, intervalMicros);
    });
  }
}

/** Returns the hit as it is in the present life of its key, or nothing if that life does not have it. */
function findHit(state: StoredState, hit: StoredHit): Hit | undefined {
  if (state.life === hit.life) return hit;
  return hit.moved !== undefined && state.life === hit.moved.life ? { ...hit, ...hit.moved } : undefined;
}

function peekAll(rules: readonly Rule[], states: readonly StoredState[], nowMicros: number, costs: Costs): Decision {
  const found = rules.map(({ limit }, index) => states[index]!.find(limit, nowMicros));
  return toDecision(rules, decideAll(rules, found, nowMicros, costs, undefined).results, undefined, costs);
}

function toStorageKeys(rules: readonly Rule[], keys: Keys): string[] {
  return rules.map(({ namespace }, index) => toStorageKey(namespace, keyAt(keys, index)));
}

/** JSON keeps the parts apart, whatever characters they contain. */
function toStorageKey(namespace: string, key: string): string {
  return JSON.stringify([LAYOUT_VERSION, namespace, toStoredKey(key)]);
}
