import type { LimitDecision } from '@rollgate/core';
import type { Costs, CounterAlgorithm } from '@rollgate/core/store';
import type { EncodedPlan } from './plan-encoding.js';

/** The arguments of a check or a peek. */
export interface CheckInput {
  readonly encodedPlan: EncodedPlan;
  /** The Redis keys, one for each rule of the plan. */
  readonly keys: readonly string[];
  readonly costs: Costs;
}

/** A check or a peek. */
export interface CheckOperation extends CheckInput {
  readonly kind: 'check' | 'peek';
  /** The injected clock's time; `undefined` for the server's. */
  readonly clockMicros: number | undefined;
  /** `sentMs` is when the script was sent, by this process's monotonic clock. */
  resolve(result: CheckResult, sentMs: number): void;
  reject(error: unknown): void;
}

/** What the script returns for a check or a peek. */
export interface CheckResult {
  readonly limitDecisions: LimitDecision[];
  /** What the check recorded; `undefined` when it recorded nothing. */
  readonly receipt: Receipt | undefined;
  /** For how long nothing but the waits changes, unless another operation changes these keys. */
  readonly stableMicros: number;
}

/** Deletes the state of keys. */
export interface ResetOperation {
  readonly kind: 'reset';
  readonly encodedPlan: EncodedPlan;
  readonly keys: readonly string[];
  resolve(): void;
  reject(error: unknown): void;
}

/** Records without deciding, then decides like a peek with a cost of 1. */
export interface ChargeOperation extends CheckInput {
  readonly kind: 'charge';
  /** Its number in the last of `keys`, or `false` if the client sends it only once. */
  readonly number: number | false;
  readonly clockMicros: number | undefined;
  resolve(result: CheckResult, sentMs: number): void;
  reject(error: unknown): void;
}

/** Replaces what a check recorded. */
export interface SettleOperation {
  readonly kind: 'settle';
  readonly keys: readonly string[];
  /** Its number in the last of `keys`, or `false` if running it twice does no harm. */
  readonly number: number | false;
  readonly receipt: Receipt;
  readonly hits: readonly SettledHit[];
  readonly clockMicros: number | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/** What a check recorded for one rule, and what it should have recorded. */
export interface SettledHit extends Readonly<RecordedHit> {
  readonly settledCost: number;
}

/** Extends leases. */
export interface RenewOperation {
  readonly kind: 'renew';
  /** The key of each lease. */
  readonly keys: readonly string[];
  readonly leases: readonly RenewedLease[];
  readonly clockMicros: number | undefined;
  /** Called with the indices of the leases that are lost. */
  resolve(lostIndices: readonly number[]): void;
  reject(error: unknown): void;
}

/** One lease of a {@link RenewOperation}. */
export interface RenewedLease {
  readonly id: number;
  readonly units: number;
  /** The limit's quota, and how long its leases last. */
  readonly limit: number;
  readonly leaseMicros: number;
}

/** Adds units to a rolling counter, and returns the sum of its last `intervalMicros`. */
export interface CountOperation {
  readonly kind: 'count';
  readonly counter: CounterAlgorithm;
  readonly keys: readonly string[];
  readonly units: number;
  readonly intervalMicros: number;
  readonly clockMicros: number | undefined;
  resolve(units: number): void;
  reject(error: unknown): void;
}

/** One atomic step of a script. */
export type Operation = DecisionOperation | ResetOperation | SettleOperation | RenewOperation | CountOperation;

/** An operation that returns a decision. */
export type DecisionOperation = CheckOperation | ChargeOperation;

/** Whether the operation returns a decision. */
export function isDecisionOperation(operation: Operation): operation is DecisionOperation {
  return operation.kind === 'check' || operation.kind === 'peek' || operation.kind === 'charge';
}

/** What a check recorded for one rule. */
export interface RecordedHit {
  /** The Redis key. */
  readonly key: string;
  /** The index of the rule in its plan. */
  readonly index: number;
  /** The time that identifies the hit. Has no meaning if the cost is 0. */
  readonly atMicros: number;
  /** 0 if the check recorded nothing for the rule. Of a lease, the units that it still has. */
  cost: number;
  /** The units that a lease had before its settlement, and may still have until Redis confirms the settlement. */
  formerCost?: number | undefined;
}

/** Identifies what a check recorded, so that a settlement can find it. */
export class Receipt {
  /** The Redis key of a single hit until `hits` is read, and the hits from then on. */
  #hits: string | readonly RecordedHit[];
  /** Of a single hit. */
  readonly #aheadMicros: number;
  readonly #cost: number;

  /** Takes the figures of a single hit one by one, because most receipts are never read. */
  constructor(
    /** A number that only grows: the server's time in microseconds, plus the index of the check in its batch. */
    readonly stamp: number,
    /** The time of the check by the clock that decided it. */
    readonly recordedMicros: number,
    readonly encodedPlan: EncodedPlan,
    /** The hits, or the Redis key of the only one. */
    hits: string | readonly RecordedHit[],
    /** How much later than the check the only hit counts. It and `cost` have no meaning for a list. */
    aheadMicros: number,
    cost: number,
  ) {
    this.#hits = hits;
    this.#aheadMicros = aheadMicros;
    this.#cost = cost;
  }

  /** One for each rule if the check was allowed. Always the same objects, because settlements change them. */
  get hits(): readonly RecordedHit[] {
    if (typeof this.#hits === 'string') {
      const atMicros = this.recordedMicros + this.#aheadMicros;
      this.#hits = [{ key: this.#hits, index: 0, atMicros, cost: this.#cost }];
    }
    return this.#hits;
  }
}
