import type { KeyTable } from './key-table.js';
import type { Hit, Verdict } from './limits/limit.js';
import type { Rule } from './plan.js';
import { NO_DECISION, TAKE_RECEIPT } from './receipt.js';
import { SingleDecision } from './single-decision.js';

/** The hit that a check of a `MemoryStore` recorded for one rule. It is in one life of the key. */
export interface RecordedHit extends Hit {
  readonly rule: Rule;
  readonly key: string;
  readonly life: number;
}

/** What a `MemoryStore` needs for a refund. */
export class MemoryReceipt {
  constructor(
    /** The table of the store that decided. */
    readonly table: KeyTable,
    readonly hits: readonly RecordedHit[],
  ) {}
}

/** A decision of a `MemoryStore` on one rule. It contains what its receipt needs, which saves an object per check. */
export class MemoryDecision extends SingleDecision {
  readonly #rule: Rule;
  /** Absent if the check recorded nothing, or the receipt was taken. */
  #table: KeyTable | undefined;
  readonly #key: string;
  readonly #life: number;
  readonly #atMicros: number;
  readonly #recordedMicros: number;
  readonly #cost: number;

  /** @param table Absent if the check recorded nothing. */
  constructor(
    rule: Rule,
    allowed: boolean,
    verdict: Verdict,
    table: KeyTable | undefined,
    key: string,
    life: number,
    atMicros: number,
    recordedMicros: number,
    cost: number,
  ) {
    super(
      rule.name,
      allowed,
      rule.limit.limit,
      verdict.remaining,
      allowed ? 0 : verdict.waitMicros / 1000,
      verdict.resetMicros / 1000,
      verdict.delayMicros / 1000,
      verdict.reason,
      false,
      undefined,
    );
    this.#rule = rule;
    this.#table = table;
    this.#key = key;
    this.#life = life;
    this.#atMicros = atMicros;
    this.#recordedMicros = recordedMicros;
    this.#cost = cost;
  }

  override [TAKE_RECEIPT](): unknown {
    if (!(#table in this)) return NO_DECISION; // An object that inherits from a decision, or its proxy.
    const table = this.#table;
    this.#table = undefined;
    if (table === undefined) return undefined;
    const hit: RecordedHit = {
      rule: this.#rule,
      key: this.#key,
      life: this.#life,
      atMicros: this.#atMicros,
      recordedMicros: this.#recordedMicros,
      cost: this.#cost,
    };
    return new MemoryReceipt(table, [hit]);
  }
}
