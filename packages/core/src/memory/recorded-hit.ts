import type { Hit } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import type { KeyTable } from './key-table.js';

/** Lives count from 1. */
const NO_LIFE = 0;

/** The hit that a check of a `MemoryStore` recorded for one rule. The linked hits of a check are its receipt. */
export class RecordedHit implements Hit {
  /** Keeps compiled code, like `SingleDecision.examples`. */
  static readonly example = RecordedHit.none(undefined as never, undefined as never, '', 0.5, undefined);

  constructor(
    /** The table of the store that decided. */
    readonly table: KeyTable,
    readonly rule: Rule,
    readonly key: string,
    /** The life of the key that has the hit. */
    readonly life: number,
    readonly atMicros: number,
    readonly recordedMicros: number,
    readonly cost: number,
    readonly next: RecordedHit | undefined,
  ) {}

  /** A place in the receipt for a rule that recorded nothing, because the action costs it nothing. */
  static none(table: KeyTable, rule: Rule, key: string, nowMicros: number, next: RecordedHit | undefined): RecordedHit {
    return new RecordedHit(table, rule, key, NO_LIFE, nowMicros, nowMicros, 0, next);
  }
}
