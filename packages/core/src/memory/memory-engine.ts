import type { Decision } from '../decision/decision.js';
import { decide } from '../engine/decide.js';
import { decideOne } from '../engine/decide-one.js';
import { Engine } from '../engine/engine.js';
import { toPlaces } from '../engine/states.js';
import { type Costs, costAt, type Keys, keyAt, type Plan } from '../plan/plan.js';
import { isStoredAsIs, toStoredKeys } from '../store/stored-key.js';
import { type Clock, readMicros } from '../time/clock.js';
import { KeyTable } from './key-table.js';
import { checkPlainWindow } from './plain-window-check.js';
import { PlainWindowRules } from './plain-window-rules.js';
import './shape-examples.js';

/** The operations of a `MemoryStore`. */
export class MemoryEngine extends Engine<true> {
  /** The clock by which the store decides. */
  readonly clock: Clock;
  readonly #keys: KeyTable;
  readonly #plainWindows: PlainWindowRules;

  constructor(clock: Clock, maxKeys: number) {
    const keys = new KeyTable(clock, maxKeys);
    super(keys);
    this.clock = clock;
    this.#keys = keys;
    this.#plainWindows = new PlainWindowRules(keys);
  }

  /** The number of keys of all limits, including expired ones that the store has not dropped yet. */
  get size(): number {
    return this.#keys.size;
  }

  /** Like {@link Store.check}, but synchronous, as all operations of this store. */
  override check(plan: Plan, keys: Keys, costs: Costs): Decision {
    const nowMicros = readMicros(this.clock);
    if (costs === 1 && typeof keys === 'string' && isStoredAsIs(keys)) {
      const rule = this.#plainWindows.of(plan);
      const decision = rule === undefined ? undefined : checkPlainWindow(rule, keys, nowMicros);
      if (decision !== undefined) return decision;
    }
    return this.#checkAny(plan, keys, costs, nowMicros);
  }

  /** Drops all keys and stops the timer. The store can be used again. */
  close(): void {
    this.#keys.clear();
  }

  /**
   * Returns a copy of all entries for debugging: namespace, key, algorithm and state. A key of more than 200 UTF-16
   * code units appears as `%#` and its SHA-256.
   */
  toJSON(): ReturnType<KeyTable['toJSON']> {
    return this.#keys.toJSON();
  }

  /** A separate method, so that V8 can inline `check`. */
  #checkAny({ rules }: Plan, keys: Keys, costs: Costs, nowMicros: number): Decision {
    const stored = toStoredKeys(keys);
    this.#keys.begin(nowMicros);
    try {
      return rules.length === 1 && costs !== 0
        ? decideOne(this.#keys, rules[0]!, keyAt(stored, 0), costAt(costs, 0), this.#keys)
        : decide(this.#keys, toPlaces(rules, stored), costs, this.#keys);
    } finally {
      this.#keys.end();
    }
  }
}
