import type { Hit } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import type { Decision } from './decision.js';

/** No key has this life. */
const NO_LIFE = -1;

/** The hit that a check recorded for one rule. It is the receipt of a check by one rule. */
export class RecordedHit implements Hit {
  /** A hit that stays, because V8 drops the compiled code of a class with its last object, and the code of each check with it. Its numbers take a box like those of other hits. */
  static readonly kept = new RecordedHit({}, {} as Rule, '', 1, 0.5, 0.5, 0.5);

  // Few hits have these, so a check does not set them.
  /** The value of `wantedCost`, once it was set. */
  declare private lowered?: number;
  /** Where a renewal that runs has moved a lease, unless the renewal fails. */
  declare moved?: Pick<RecordedHit, 'life' | 'atMicros'> | undefined;
  /** Whether a release has spent what the hit reserved. */
  declare isSpent?: boolean;

  // Numbers that take a box come last, because V8 sets the properties before its first box in one step. The row "rolling allowed" of
  // `bench plain` shows the difference.
  constructor(
    /** The port of the store that decided. */
    readonly owner: object,
    /** The rule that recorded the hit. */
    readonly rule: Rule,
    /** The key of the rule. */
    readonly key: string,
    /** The units that the hit takes. */
    public cost: number,
    /** The life of the key that has the hit. A lease may move to a later one, and may get another id there. */
    public life: number,
    /** The time of the hit. */
    public atMicros: number,
    /** When the check recorded it. */
    readonly recordedMicros: number,
  ) {}

  /** Of a lease, the units that a renewal takes back or keeps. A settlement or a release lowers them before it runs. */
  get wantedCost(): number {
    return this.lowered ?? this.cost;
  }

  /** Lowers the units, for the renewals from now on. */
  set wantedCost(units: number) {
    this.lowered = units;
  }

  /** A place in the receipt for a rule that recorded nothing, because the action costs it nothing. */
  static none(owner: object, rule: Rule, key: string, nowMicros: number): RecordedHit {
    return new RecordedHit(owner, rule, key, 0, NO_LIFE, nowMicros, nowMicros);
  }

  /** Notes that a settlement has lowered the cost. A later one lowers it from there. The units of a lease identify it. */
  confirmCost(cost: number): void {
    if (!this.rule.limit.leaseMicros) this.cost = cost;
  }
}

/**
 * Returns the hits of a receipt, or `undefined` if it is of another kind. The receipt of a check by several rules is a list of the hit
 * of each, in the order of the rules, also of one without a cost.
 */
export function recordedHitsOf(receipt: unknown): readonly RecordedHit[] | undefined {
  const hits = Array.isArray(receipt) ? receipt : [receipt];
  // The part of a receipt for limits that the store did not get is an empty list.
  return hits.every((hit) => hit instanceof RecordedHit) ? hits : undefined;
}

/**
 * The property of a decision that is its receipt, `undefined` if the check recorded nothing or a refund has spent it. The symbol is
 * registered, so that two installed versions of this package can read each other's decisions.
 */
export const RECEIPT = Symbol.for('@rollgate/core receipt');

type WithReceipt = Decision & { [RECEIPT]: unknown };

/** The result of {@link readReceipt} for a value that is not a decision. */
export const NO_DECISION = Symbol.for('@rollgate/core no decision');

/** Returns the receipt of a decision, or `NO_DECISION` for any other value. */
export function readReceipt(decision: unknown): unknown {
  return RECEIPT in Object(decision) ? (decision as WithReceipt)[RECEIPT] : NO_DECISION;
}

/** Puts a receipt in the place of that of a decision. */
export function replaceReceipt(decision: Decision, receipt: unknown): void {
  (decision as WithReceipt)[RECEIPT] = receipt;
}
