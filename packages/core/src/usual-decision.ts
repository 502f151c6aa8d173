import type { Decision, LimitDecision } from './decision.js';
import { INSPECT, toLimitDecision, toPlainDecision } from './decision-figures.js';
import { KeyTable } from './key-table.js';
import type { Rule } from './plan.js';
import { RecordedHit } from './recorded-hit.js';
import { NO_DECISION, TAKE_RECEIPT } from './take-receipt.js';

const NO_LIMITS: readonly string[] = Object.freeze([]);

/**
 * The decision of a usual check that was allowed. It contains what describes its hit, and creates the receipt when a
 * refund or a settlement needs it. With a separate receipt, a check would allocate a third more memory.
 *
 * `limits` is a getter for the reasons that `SingleDecision` gives.
 */
export class UsualDecision implements Decision {
  /** Keeps compiled code, like `SingleDecision.examples`. */
  static readonly example = new UsualDecision({ limit: { limit: 0 } } as Rule, 0, 0.5, {} as KeyTable, '', 0.5, 0.5);

  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly delayMs: number;
  readonly violated: readonly string[];
  readonly degraded: Decision['degraded'];
  readonly #rule: Rule;
  /** The table that has the hit. Later, what {@link TAKE_RECEIPT} left. */
  #receipt: unknown;
  readonly #key: string;
  readonly #life: number;
  readonly #atMicros: number;
  #limits: Readonly<Record<string, LimitDecision>> | undefined;

  /** @param life The life of the key that has the hit. */
  constructor(
    rule: Rule,
    remaining: number,
    resetMs: number,
    table: KeyTable,
    key: string,
    life: number,
    atMicros: number,
  ) {
    this.allowed = true;
    this.limit = rule.limit.limit;
    this.remaining = remaining;
    this.retryAfterMs = 0;
    this.resetMs = resetMs;
    this.delayMs = 0;
    this.violated = NO_LIMITS;
    this.degraded = false;
    this.#rule = rule;
    this.#receipt = table;
    this.#key = key;
    this.#life = life;
    this.#atMicros = atMicros;
  }

  get limits(): Readonly<Record<string, LimitDecision>> {
    this.#limits ??= { [this.#rule.name]: toLimitDecision(this) };
    return this.#limits;
  }

  toJSON(): Decision {
    return toPlainDecision(this);
  }

  [INSPECT](): Decision {
    return toPlainDecision(this);
  }

  [TAKE_RECEIPT](left?: unknown): unknown {
    if (!(#receipt in this)) return NO_DECISION; // An object that inherits from a decision, or its proxy.
    const receipt = this.#receipt;
    this.#receipt = left;
    if (!(receipt instanceof KeyTable)) return receipt;
    return new RecordedHit(receipt, this.#rule, this.#key, this.#life, this.#atMicros, this.#atMicros, 1, undefined);
  }
}
