import { mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { holdsSlots } from '../limits/capabilities.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import { type Costs, costAt, type Keys, type Plan, type SettledCosts, settledCost } from '../plan/plan.js';
import type { CountingStore } from '../store/capabilities.js';
import type { Store } from '../store/store.js';
import { toStoredKey, toStoredKeys } from '../store/stored-key.js';
import { foreignDecision } from '../validation/errors.js';
import { decide, type Overdraft, type RulePlace, recordOverdrafts } from './decide.js';
import { Receipt, type RecordedHit } from './recorded-hit.js';
import { reservesUnits, type Settlement } from './reserving-limit.js';
import { type Place, type Returned, type StatePort, toPlaces } from './states.js';

/**
 * The operations of a store that keeps states as numbers. Each is one atomic step of its port.
 *
 * @typeParam Sync Whether the port returns no promises.
 */
export class Engine<Sync extends boolean = false> implements Store, CountingStore {
  readonly #port: StatePort<Sync>;

  constructor(port: StatePort<Sync>) {
    this.#port = port;
  }

  check({ rules }: Plan, keys: Keys, costs: Costs): Returned<Sync, Decision> {
    const places = toPlaces(rules, toStoredKeys(keys));
    return this.#port.run(places, 'records', (states) => decide(states, places, costs, this.#port));
  }

  peek({ rules }: Plan, keys: Keys, costs: Costs): Returned<Sync, Decision> {
    const places = toPlaces(rules, toStoredKeys(keys));
    return this.#port.run(places, 'none', (states) => decide(states, places, costs));
  }

  charge({ rules }: Plan, keys: Keys, costs: Costs): Returned<Sync, Decision> {
    const places = toPlaces(rules, toStoredKeys(keys));
    const overdrafts = toOverdrafts(places, (_, index) => costAt(costs, index));
    return this.#port.run(places, 'records', (states) => {
      recordOverdrafts(states, overdrafts);
      return decide(states, places, 1);
    });
  }

  settle(receipt: unknown, costs: SettledCosts): Returned<Sync, void> {
    return this.#settle(receipt, (hit) => settledCost(costs, hit.rule) ?? hit.cost);
  }

  refund(receipt: unknown): Returned<Sync, void> {
    return this.#settle(receipt, () => 0);
  }

  release(receipt: unknown): Returned<Sync, void> {
    return this.#settle(receipt, (hit) => (holdsSlots(hit.rule.limit) ? 0 : hit.cost), true);
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
    if (receipt instanceof Receipt && receipt.owner === this.#port) return receipt.hits;
    throw foreignDecision();
  }

  /** Replaces the cost of each hit. Only a check takes slots, so a lease gets no further units. */
  #settle(receipt: unknown, toCost: (hit: RecordedHit) => number, isRelease?: boolean): Returned<Sync, void> {
    const settlements: Settlement[] = [];
    const refunds: RecordedHit[] = [];
    const others: RecordedHit[] = [];
    for (const hit of this.hitsOf(receipt)) {
      const { limit } = hit.rule;
      if (!reservesUnits(limit)) (toCost(hit) < hit.cost ? refunds : others).push(hit);
      else settlements.push(...[limit.settle(hit, toCost(hit), isRelease) ?? []].flat());
    }
    const overdrafts = toOverdrafts(others, (hit) => toCost(hit) - hit.cost);
    const changes = refunds.length + settlements.length;
    if (changes + overdrafts.length === 0) return undefined as Returned<Sync, void>;
    for (const hit of refunds) hit.wantedCost = Math.min(hit.wantedCost, toCost(hit));
    const effect = changes > 0 ? 'frees' : 'records';
    const settled = this.#port.run([...refunds, ...settlements, ...overdrafts], effect, (states) => {
      for (const hit of refunds) hit.refund(states, toCost(hit));
      for (const settlement of settlements) settlement.run(states);
      recordOverdrafts(states, overdrafts);
    });
    return mapAwaitable(settled, () => {
      for (const hit of refunds) hit.confirmCost(toCost(hit));
    }) as Returned<Sync, void>;
  }
}

/** The name of a state, by which callers wait for it. */
function nameOf({ rule, key }: Place): string {
  return `${rule.namespace}\n${key}`;
}

/** Returns what to record at these places. Only a check takes slots, so a charge or a settlement adds none. */
function toOverdrafts<At extends RulePlace>(
  places: readonly At[],
  toUnits: (place: At, index: number) => number,
): Overdraft[] {
  return places
    .map((place, index) => ({ rule: place.rule, key: place.key, units: toUnits(place, index) }))
    .filter(({ rule, units }) => units > 0 && !holdsSlots(rule.limit));
}
