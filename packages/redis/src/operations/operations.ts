import type { LimitDecision } from '@rollgate/core';
import type { Costs, CounterAlgorithm } from '@rollgate/core/store';
import type { ScriptParts } from './algorithm-registry.js';
import type { EncodedPlan } from './plan-encoder.js';
import type { Receipt, RecordedHit } from './receipt.js';

/** The arguments of an operation that returns a decision. */
export interface CheckInput {
  readonly encodedPlan: EncodedPlan;
  /** The Redis keys, one for each rule of the plan. */
  readonly keys: readonly string[];
  readonly costs: Costs;
  /** The injected clock's time; `undefined` for the server's. */
  readonly clockMicros: number | undefined;
  /** Of a check that an optional part of the store encodes. More keys may follow those of the rules then. */
  readonly encoding?: OperationEncoding | undefined;
}

/** A check or a peek. */
export interface CheckOperation extends CheckInput {
  readonly kind: 'check' | 'peek';
  /** Of a check that runs only if no caller waits for its keys: how many keys of queues follow those of the rules. */
  readonly queueCount?: number;
  /** Called instead of `resolve` if callers wait. */
  readonly onQueued?: (() => void) | undefined;
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
  /** The name of their steps in `lua/limits`. */
  readonly script: string;
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
  /** The limit's quota. Of a reservation, the stamp of its check. */
  readonly limit: number;
  /** How long the leases of the limit last. */
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

/** An operation on the queues of callers that wait. */
export interface TicketOperation {
  readonly kind: 'ticket';
  readonly encodedPlan: EncodedPlan;
  readonly keys: readonly string[];
  readonly encoding: OperationEncoding;
  /** `line` is what the script returned, and `sentMs` when it was sent, by this process's monotonic clock. */
  resolve(line: string, sentMs: number): void;
  reject(error: unknown): void;
}

/** How an optional part of the store encodes an operation for the scripts. */
export interface OperationEncoding {
  /** The kind of the operation in Lua. */
  readonly kind: string;
  readonly parts: ScriptParts;
  /** The plan and the input as `lua/program/main.lua` describes them. They are read each time when the operation is sent. */
  readonly plan: string;
  readonly input: string;
}

/** One atomic step of a script. */
export type Operation =
  | DecisionOperation
  | ResetOperation
  | SettleOperation
  | RenewOperation
  | CountOperation
  | TicketOperation;

/** An operation that returns a decision. */
export type DecisionOperation = CheckOperation | ChargeOperation;
