import type { LimitDecision } from '@rollgate/core';
import type { CounterAlgorithm } from '@rollgate/core/store';
import type { EncodedPlan } from './plan-encoding.js';

/** A check or a peek that waits to be decided. */
export interface CheckOperation {
  readonly kind: 'check' | 'peek';
  readonly encoded: EncodedPlan;
  readonly keys: readonly string[];
  readonly cost: number;
  /** By the injected clock. */
  readonly clockMicros: number | undefined;
  /** `sentMs` is when it was sent, by this process's monotonic time. */
  answer(answer: CheckResult, sentMs: number): void;
  fail(error: unknown): void;
}

/** What the script said of a check or a peek. */
export interface CheckResult {
  readonly said: LimitDecision[];
  /** What a check has recorded; `undefined` when it recorded nothing. */
  readonly receipt: Receipt | undefined;
  /** For how long the same answer holds, with its waits running down, if nobody else acts on these keys. */
  readonly steadyMicros: number;
}

/** Keys that are to be forgotten. */
export interface ResetOperation {
  readonly kind: 'reset';
  readonly encoded: EncodedPlan;
  readonly keys: readonly string[];
  done(): void;
  fail(error: unknown): void;
}

/** Hits that are to be taken back. */
export interface RefundOperation {
  readonly kind: 'refund';
  readonly keys: readonly string[];
  readonly receipt: Receipt;
  readonly clockMicros: number | undefined;
  done(): void;
  fail(error: unknown): void;
}

/** Units of a rolling counter that are to be added, and counted. */
export interface CountOperation {
  readonly kind: 'count';
  readonly counter: CounterAlgorithm;
  readonly keys: readonly string[];
  readonly units: number;
  readonly intervalMicros: number;
  readonly clockMicros: number | undefined;
  answer(units: number): void;
  fail(error: unknown): void;
}

/** What the script is asked to do, in one atomic step each. */
export type Operation = CheckOperation | ResetOperation | RefundOperation | CountOperation;

/** Whether the operation asks for a decision. */
export function isCheckOperation(operation: Operation): operation is CheckOperation {
  return operation.kind === 'check' || operation.kind === 'peek';
}

/** What a check recorded for one rule. */
export interface RecordedHit {
  /** Of Redis. */
  readonly key: string;
  /** The place of the rule in its plan. */
  readonly index: number;
  readonly atMicros: number;
}

/** Where to find again what a check recorded. */
export class Receipt {
  constructor(
    /** A number that only grows: the server's time in microseconds, plus the place of the check in its batch. */
    readonly stamp: number,
    /** By the clock that decided. */
    readonly recordedMicros: number,
    readonly cost: number,
    readonly encoded: EncodedPlan,
    readonly hits: readonly RecordedHit[],
  ) {}
}
