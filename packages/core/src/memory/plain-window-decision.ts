import type { Decision, LimitDecision } from '../decision/decision.js';
import { INSPECT, NO_LIMITS, toLimitDecision, toPlainDecision } from '../decision/decision-with-receipt.js';
import { NO_DECISION, TAKE_RECEIPT } from '../decision/take-receipt.js';
import { Receipt, RecordedHit } from '../engine/recorded-hit.js';
import { PlainWindowRule } from './plain-window-rule.js';

/**
 * The decision of a check of a plain window that was allowed. It contains what describes its hit, and creates the receipt when a
 * refund or a settlement needs it. With a separate receipt, a check would allocate a third more memory.
 *
 * As a subclass of `DecisionWithReceipt`, it would add a fifth to the instructions of the check. V8 does not inline the
 * constructor of a superclass. `limits` is a getter for the reasons given there.
 */
export class PlainWindowDecision implements Decision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly nextUnitMs: number;
  readonly delayMs: number;
  readonly violated: readonly string[];
  readonly degraded: Decision['degraded'];
  /** The rule that allowed the action. Later, what {@link TAKE_RECEIPT} left. */
  #receipt: unknown;
  readonly #key: string;
  readonly #life: number;
  readonly #atMicros: number;
  /** The limit's name until `limits` is read, and its value from then on. */
  #limits: string | Readonly<Record<string, LimitDecision>>;

  /** @param life The life of the key that has the hit. */
  constructor(
    rule: PlainWindowRule,
    remaining: number,
    nextUnitMs: number,
    key: string,
    life: number,
    atMicros: number,
  ) {
    this.allowed = true;
    this.limit = rule.limit;
    this.remaining = remaining;
    this.retryAfterMs = 0;
    this.resetMs = rule.windowMs;
    this.nextUnitMs = nextUnitMs;
    this.delayMs = 0;
    this.violated = NO_LIMITS;
    this.degraded = false;
    this.#receipt = rule;
    this.#key = key;
    this.#life = life;
    this.#atMicros = atMicros;
    this.#limits = rule.name;
  }

  get limits(): Readonly<Record<string, LimitDecision>> {
    if (typeof this.#limits === 'string') this.#limits = { [this.#limits]: toLimitDecision(this) };
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
    if (!(receipt instanceof PlainWindowRule)) return receipt;
    const hit = new RecordedHit(receipt.rule, this.#key, this.#life, this.#atMicros, this.#atMicros, 1);
    return new Receipt(receipt.table, [hit]);
  }
}
