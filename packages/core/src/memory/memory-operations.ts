import type { Decision } from '../decision/decision.js';
import { decideAll, recordOverdraft } from '../decision/evaluate.js';
import { toDecision } from '../decision/to-decision.js';
import { holdsSlots } from '../limits/limit.js';
import { type Costs, costAt, type Keys, keyAt, type Rule, type SettledCosts, settledCost } from '../plan/plan.js';
import type { Entry } from './entry.js';
import type { KeyTable } from './key-table.js';
import { RecordedHit } from './recorded-hit.js';

/** Units to record for a key, whether or not they are free. */
interface Overdraft {
  readonly rule: Rule;
  readonly key: string;
  readonly units: number;
}

/** The operations of a `MemoryStore` on any number of rules, with keys as the store keeps them. */
export class MemoryOperations {
  readonly #keys: KeyTable;
  /** A view for refunds, which need one after the other. */
  readonly #entry: Entry;

  constructor(keys: KeyTable) {
    this.#keys = keys;
    this.#entry = keys.createEntry();
  }

  check(rules: readonly Rule[], keys: Keys, nowMicros: number, costs: Costs): Decision {
    const entries = this.#findAll(rules, keys, nowMicros);
    const { allowed, results, hitsMicros } = decideAll(rules, entries, nowMicros, costs, (index) => {
      entries[index] ??= this.#create(rules[index]!, keyAt(keys, index), nowMicros, entries);
      return entries[index]!;
    });
    let receipt: RecordedHit | undefined;
    entries.forEach((entry, index) => {
      const rule = rules[index]!;
      const atMicros = hitsMicros[index];
      if (entry !== undefined && atMicros !== undefined) {
        this.#keys.markRecorded(entry, rule.limit);
        const cost = costAt(costs, index);
        receipt = new RecordedHit(this.#keys, rule, entry.key, entry.life, atMicros, nowMicros, cost, receipt);
        return;
      }
      if (entry !== undefined) this.#keys.restore(entry);
      if (allowed) receipt = RecordedHit.none(this.#keys, rule, keyAt(keys, index), nowMicros, receipt);
    });
    return toDecision(rules, results, receipt, costs);
  }

  peek(rules: readonly Rule[], keys: Keys, nowMicros: number, costs: Costs): Decision {
    const found = this.#findAll(rules, keys, nowMicros);
    return toDecision(rules, decideAll(rules, found, nowMicros, costs, undefined).results, undefined, costs);
  }

  settle(receipt: RecordedHit, costs: SettledCosts, nowMicros: number): void {
    const overdrafts: Overdraft[] = [];
    for (let hit: RecordedHit | undefined = receipt; hit !== undefined; hit = hit.next) {
      const { rule, key } = hit;
      const cost = settledCost(costs, rule) ?? hit.cost;
      if (cost < hit.cost) this.#refund(hit, cost, nowMicros);
      else if (cost > hit.cost && !holdsSlots(rule.limit)) overdrafts.push({ rule, key, units: cost - hit.cost });
    }
    if (overdrafts.length > 0) this.#recordAll(overdrafts, nowMicros);
  }

  charge(rules: readonly Rule[], keys: Keys, nowMicros: number, costs: Costs): Decision {
    const overdrafts = rules.flatMap((rule, index): Overdraft[] => {
      const units = costAt(costs, index);
      return units === 0 || holdsSlots(rule.limit) ? [] : [{ rule, key: keyAt(keys, index), units }];
    });
    this.#recordAll(overdrafts, nowMicros);
    return this.peek(rules, keys, nowMicros, 1);
  }

  /** Frees the slots that the check took. */
  release(receipt: RecordedHit, nowMicros: number): void {
    for (let hit: RecordedHit | undefined = receipt; hit !== undefined; hit = hit.next) {
      if (holdsSlots(hit.rule.limit) && hit.cost > 0) this.#refund(hit, 0, nowMicros);
    }
  }

  #refund(hit: RecordedHit, kept: number, nowMicros: number): void {
    const { rule, key, life } = hit;
    const entry = this.#keys.findLife(rule.namespace, key, life, this.#entry);
    if (entry === undefined) return;
    rule.limit.refund(entry, nowMicros, hit, kept);
    this.#keys.markRefunded(entry, rule.limit);
  }

  /** Finds or creates all entries before it records, so that none of them evicts another one. */
  #recordAll(overdrafts: readonly Overdraft[], nowMicros: number): void {
    const entries = overdrafts.map(({ rule, key }) => this.#find(rule, key, nowMicros));
    overdrafts.forEach(({ rule, key }, index) => {
      entries[index] ??= this.#create(rule, key, nowMicros, entries);
    });
    overdrafts.forEach(({ rule: { limit }, units }, index) => {
      const entry = entries[index]!;
      recordOverdraft(limit, entry, nowMicros, units);
      this.#keys.markRecorded(entry, limit);
    });
  }

  #findAll(rules: readonly Rule[], keys: Keys, nowMicros: number): (Entry | undefined)[] {
    return rules.map((rule, index) => this.#find(rule, keyAt(keys, index), nowMicros));
  }

  #find(rule: Rule, key: string, nowMicros: number): Entry | undefined {
    return this.#keys.find(rule, key, nowMicros, this.#keys.createEntry());
  }

  /** @param kept The entries of this operation. None of them is evicted. */
  #create(rule: Rule, key: string, nowMicros: number, kept: readonly (Entry | undefined)[]): Entry {
    return this.#keys.create(rule, key, nowMicros, this.#keys.createEntry(), kept);
  }
}
