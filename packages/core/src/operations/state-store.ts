import type { Decision } from '../decision/decision.js';
import { type RecordedHit, recordedHitsOf } from '../decision/receipt.js';
import type { LeasedLimit, Limit, State } from '../limits/limit.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import { type Costs, costAt, type Keys, type Plan, type SettledCosts, settledCost } from '../plan/plan.js';
import type { CountingStore, Store } from '../store/store.js';
import { toStoredKey, toStoredKeys } from '../store/stored-key.js';
import { mapAwaitable } from '../util/awaitable.js';
import { foreignDecision } from '../validation/errors.js';
import { type Overdraft, peek, recordOverdrafts } from './decide.js';
import { type Place, type Returned, type StatePort, type States, toPlaces } from './states.js';

/** What a settlement, a refund or a release does with the state of a key. */
export interface Settlement extends Place {
  /** Changes the states of the operation. It may run again after a conflict in a database. */
  run(states: States): void;
}

/** A limit whose checks reserve units until they are settled. */
export type ReservingLimit = LeasedLimit & {
  /** Prepares a settlement, a refund or a release of a hit. Returns `undefined` if there is nothing to do. */
  settle(hit: RecordedHit, cost: number, isRelease?: boolean): Settlement | undefined;
};

/**
 * A limit whose charges and settlements set what a server has reported. They change the state even without a cost, and may free
 * units.
 */
export type ReportingLimit = ReservingLimit & {
  /** The reported numbers. */
  readonly reported: object;
  /** The limit of checks, which sets no numbers. */
  readonly quota: Limit;
};

/** Whether a settlement by this limit changes the state in any case. */
export function hasReport(limit: Limit): limit is ReportingLimit {
  return (limit as Partial<ReportingLimit>).reported !== undefined;
}

/** Whether a check of the limit reserves units. */
export function reservesUnits(limit: Limit): limit is ReservingLimit {
  return limit.renew !== undefined && !limit.holdsSlots;
}

/**
 * Settles what a check has reserved.
 *
 * @param settleIn Settles it in the life of the key that has the reservation. Returns the units that are still to be recorded.
 */
export function settleReservation(
  { rule, key, life, cost: reserved, isSpent }: RecordedHit,
  settled: number,
  settleIn: (state: State, nowMicros: number) => number,
): Settlement {
  return {
    rule,
    key,
    run(states) {
      const state = states.find(rule, key);
      const isGone = reserved === 0 || state.isNew || state.life !== life;
      const units = isGone ? settled - (isSpent ? reserved : 0) : settleIn(state, states.nowMicros);
      if (!isGone) states.save(state, rule.limit.expiresMicros(state));
      if (units > 0) recordOverdrafts(states, [{ rule, key, units }]);
    },
  };
}

/**
 * The operations of a store that keeps states as numbers, apart from `check`. Each is one atomic step of its port.
 *
 * @typeParam Sync Whether the port returns no promises.
 */
export class StateStore<Sync extends boolean = false> implements Omit<Store, 'check'>, CountingStore {
  readonly #port: StatePort<Sync>;

  constructor(port: StatePort<Sync>) {
    this.#port = port;
  }

  peek({ rules }: Plan, keys: Keys, costs: Costs): Returned<Sync, Decision> {
    const stored = toStoredKeys(keys);
    return this.#port.run(toPlaces(rules, stored), 'none', (states) => peek(states, rules, stored, costs));
  }

  charge({ rules }: Plan, keys: Keys, costs: Costs): Returned<Sync, Decision> {
    const stored = toStoredKeys(keys);
    const places = toPlaces(rules, stored);
    const overdrafts = toOverdrafts(places, (_, index) => costAt(costs, index));
    const effect = rules.some(({ limit }) => limit.givesBack) ? 'frees' : 'records';
    return this.#port.run(places, effect, (states) => {
      recordOverdrafts(states, overdrafts);
      return peek(states, rules, stored, 1);
    });
  }

  settle(receipt: unknown, costs: SettledCosts): Returned<Sync, void> {
    return this.#settle(receipt, (hit) => settledCost(costs, hit.rule) ?? hit.cost);
  }

  refund(receipt: unknown): Returned<Sync, void> {
    return this.#settle(receipt, () => 0);
  }

  release(receipt: unknown): Returned<Sync, void> {
    return this.#settle(receipt, (hit) => (hit.rule.limit.holdsSlots ? 0 : hit.cost), true);
  }

  reset({ rules }: Plan, keys: Keys): Returned<Sync, void> {
    const places = toPlaces(rules, toStoredKeys(keys));
    return this.#port.run(places, 'frees', (states) => {
      for (const { rule, key } of places) states.remove(rule, key);
    });
  }

  namesOf({ rules }: Plan, keys: Keys): string[] {
    return toPlaces(rules, toStoredKeys(keys)).map(nameOf);
  }

  namesOfReceipt(receipt: unknown): string[] {
    return this.hitsOf(receipt).map(nameOf);
  }

  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Returned<Sync, number> {
    const place = { rule: counter.owner, key: toStoredKey(subject) };
    return this.#port.run([place], units > 0 ? 'records' : 'none', (states) =>
      counter.countIn(states, place.key, units, intervalMicros),
    );
  }

  /** @throws TypeError if the receipt is that of another store. */
  protected hitsOf(receipt: unknown): readonly RecordedHit[] {
    const hits = recordedHitsOf(receipt);
    if (hits?.every(({ owner }) => owner === this.#port)) return hits;
    throw foreignDecision();
  }

  /** Replaces the cost of each hit. Only a check takes slots, so a lease gets no further units. */
  #settle(receipt: unknown, toCost: (hit: RecordedHit) => number, isRelease?: boolean): Returned<Sync, void> {
    const settlements: Settlement[] = [];
    const lowered: RecordedHit[] = [];
    const raised: RecordedHit[] = [];
    for (const hit of this.hitsOf(receipt)) {
      const cost = toCost(hit);
      const { limit } = hit.rule;
      if (reservesUnits(limit)) {
        const settlement = limit.settle(hit, cost, isRelease);
        if (settlement !== undefined) settlements.push(settlement);
      } else if (cost < hit.cost) {
        hit.wantedCost = Math.min(hit.wantedCost, cost);
        lowered.push(hit);
        settlements.push({ rule: hit.rule, key: hit.key, run: (states) => refund(states, hit, cost) });
      } else {
        raised.push(hit);
      }
    }
    const overdrafts = toOverdrafts(raised, (hit) => toCost(hit) - hit.cost);
    if (settlements.length + overdrafts.length === 0) return undefined as Returned<Sync, void>;
    const effect = settlements.length > 0 ? 'frees' : 'records';
    const settled = this.#port.run([...settlements, ...overdrafts], effect, (states) => {
      for (const settlement of settlements) settlement.run(states);
      recordOverdrafts(states, overdrafts);
    });
    return mapAwaitable(settled, () => {
      for (const hit of lowered) hit.confirmCost(toCost(hit));
    }) as Returned<Sync, void>;
  }
}

/** Refunds all but the first `kept` units, if the key is still in the life that has the hit. */
function refund(states: States, hit: RecordedHit, kept: number): void {
  const { rule, key, life, moved } = hit;
  const found = states.findLife(rule, key, life);
  const state = found ?? (moved && states.findLife(rule, key, moved.life));
  if (state === undefined) return;
  rule.limit.refund(state, states.nowMicros, found === undefined ? { ...hit, ...moved } : hit, kept);
  states.save(state, rule.limit.expiresMicros(state));
}

/** The name of a state, by which callers wait for it. */
function nameOf({ rule, key }: Place): string {
  return `${rule.namespace}\n${key}`;
}

/** Returns what to record at these places. Only a check takes slots, so a charge or a settlement adds none. */
function toOverdrafts<At extends Pick<Overdraft, 'rule' | 'key'>>(
  places: readonly At[],
  toUnits: (place: At, index: number) => number,
): Overdraft[] {
  return places
    .map((place, index) => ({ rule: place.rule, key: place.key, units: toUnits(place, index) }))
    .filter(({ rule, units }) => units > 0 && !rule.limit.holdsSlots);
}
