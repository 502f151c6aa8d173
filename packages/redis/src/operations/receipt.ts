import type { Limit } from '@rollgate/core';
import type { LimitedReceipt } from '@rollgate/core/store';
import { type EncodedPlan, encodeWith } from './plan-encoder.js';

/** What a check recorded for one rule. */
export interface RedisHit {
  /** The Redis key. */
  readonly key: string;
  /** The index of the rule in its plan. */
  readonly index: number;
  /** The time that identifies the hit. Has no meaning if the cost is 0. */
  readonly atMicros: number;
  /** 0 if the check recorded nothing for the rule. Of slots, the number that is not free yet. */
  cost: number;
  /** The units that a lease had before its settlement, and may still have until Redis confirms the settlement. */
  formerCost?: number | undefined;
  /** Of a reservation, what has ended it. A released one can still be settled. */
  ended?: 'released' | 'settled';
}

/** Identifies what a check recorded, so that a settlement can find it. */
export class RedisReceipt implements LimitedReceipt {
  /** A receipt that stays, because V8 drops the compiled code of a class with its last object, and the code of each check with it. */
  static readonly kept = new RedisReceipt(1.7e15, 1.7e15, {} as EncodedPlan, []);

  constructor(
    /** A number that only grows: the server's time in microseconds, plus the index of the check in its batch. */
    readonly stamp: number,
    /** The time of the check by the clock that decided it. */
    readonly recordedMicros: number,
    readonly encodedPlan: EncodedPlan,
    /** One for each rule if the check was allowed. Always the same objects, because settlements change them. */
    readonly hits: readonly RedisHit[],
    /** The plan of the check, whose queues callers wait in. */
    readonly checkedPlan = encodedPlan,
    /** The hits of all rules of that plan, also if this receipt is for some of them. */
    readonly checkedHits = hits,
  ) {}

  /** Implements {@link LimitedReceipt.withLimits}. Both receipts have the same hits, so a settlement of one is seen by the other. */
  withLimits(limits: Readonly<Record<string, Limit>>): RedisReceipt {
    return this.#with(encodeWith(this.encodedPlan, limits), this.hits);
  }

  /** Implements {@link LimitedReceipt.only}. */
  only(names: readonly string[]): RedisReceipt {
    const { rules } = this.encodedPlan.plan;
    const hits = this.hits.filter(({ index }) => names.includes(rules[index]!.name));
    return this.#with(this.encodedPlan, hits);
  }

  #with(encodedPlan: EncodedPlan, hits: readonly RedisHit[]): RedisReceipt {
    const { stamp, recordedMicros, checkedPlan, checkedHits } = this;
    return new RedisReceipt(stamp, recordedMicros, encodedPlan, hits, checkedPlan, checkedHits);
  }
}
