import type { LimitDecision } from '@rollgate/core';
import type { CounterAlgorithm } from '@rollgate/core/store';
import type { EncodedPlan } from './plan-encoding.js';

/** The arguments of a check or a peek. */
export interface CheckInput {
  readonly encodedPlan: EncodedPlan;
  /** The Redis keys, one for each rule of the plan. */
  readonly keys: readonly string[];
  readonly cost: number;
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

/** Refunds what a check recorded. */
export interface RefundOperation {
  readonly kind: 'refund';
  readonly keys: readonly string[];
  readonly receipt: Receipt;
  readonly clockMicros: number | undefined;
  resolve(): void;
  reject(error: unknown): void;
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
export type Operation = CheckOperation | ResetOperation | RefundOperation | CountOperation;

/** Whether the operation returns a decision. */
export function isCheckOperation(operation: Operation): operation is CheckOperation {
  return operation.kind === 'check' || operation.kind === 'peek';
}

/** What a check recorded for one rule. */
export interface RecordedHit {
  /** The Redis key. */
  readonly key: string;
  /** The index of the rule in its plan. */
  readonly index: number;
  readonly atMicros: number;
}

/** Identifies what a check recorded, so that a refund can find it. */
export class Receipt {
  constructor(
    /** A number that only grows: the server's time in microseconds, plus the index of the check in its batch. */
    readonly stamp: number,
    /** The time of the check by the clock that decided it. */
    readonly recordedMicros: number,
    readonly cost: number,
    readonly encodedPlan: EncodedPlan,
    readonly hits: readonly RecordedHit[],
  ) {}
}
