import type { LimitDecision } from '@rollgate/core';
import type { Costs, CounterAlgorithm } from '@rollgate/core/store';
import type { ScriptParts } from './algorithm-registry.js';
import type { EncodedPlan } from './plan-encoder.js';
import type { RedisHit, RedisReceipt } from './receipt.js';

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

/** What the sender of an operation gets: one of the two calls. `Values` are what Redis has returned. */
interface Sent<Values extends readonly unknown[] = []> {
  /** The Redis keys of the operation. */
  readonly keys: readonly string[];
  resolve(...values: Values): void;
  reject(error: unknown): void;
}

/** The `sentMs` of a result is when the script was sent, by this process's monotonic clock. */
type SentResult = Sent<[result: CheckResult, sentMs: number]>;

/** A check or a peek. */
export interface CheckOperation extends CheckInput, SentResult {
  readonly kind: 'check' | 'peek';
  /** Of a check that runs only if no caller waits for its keys: how many keys of queues follow those of the rules. */
  readonly queueCount?: number;
  /** Called instead of `resolve` if callers wait. */
  readonly onQueued?: (() => void) | undefined;
}

/** What the script returns for a check or a peek. */
export interface CheckResult {
  readonly limitDecisions: LimitDecision[];
  /** What the check recorded; `undefined` when it recorded nothing. */
  readonly receipt: RedisReceipt | undefined;
  /** For how long nothing but the waits changes, unless another operation changes these keys. */
  readonly stableMicros: number;
}

/** Deletes the state of keys. */
export interface ResetOperation extends Sent {
  readonly kind: 'reset';
  readonly encodedPlan: EncodedPlan;
}

/** Records without deciding, then decides like a peek with a cost of 1. */
export interface ChargeOperation extends CheckInput, SentResult {
  readonly kind: 'charge';
  /** Its number in the last of `keys`, or `false` if the client sends it only once. */
  readonly number: number | false;
}

/** Replaces what a check recorded. */
export interface SettleOperation extends Sent {
  readonly kind: 'settle';
  /** Its number in the last of `keys`, or `false` if running it twice does no harm. */
  readonly number: number | false;
  readonly receipt: RedisReceipt;
  readonly hits: readonly SettledHit[];
  readonly clockMicros: number | undefined;
}

/** What a check recorded for one rule, and what it should have recorded. */
export interface SettledHit extends Readonly<RedisHit> {
  readonly settledCost: number;
}

/** Extends leases. */
export interface RenewOperation extends Sent<[lostIndices: readonly number[]]> {
  readonly kind: 'renew';
  /** The name of their steps in `lua/limits`. */
  readonly script: string;
  /** The key of each lease. */
  readonly keys: readonly string[];
  readonly leases: readonly RenewedLease[];
  readonly clockMicros: number | undefined;
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
export interface CountOperation extends Sent<[units: number]> {
  readonly kind: 'count';
  readonly counter: CounterAlgorithm;
  readonly units: number;
  readonly intervalMicros: number;
  readonly clockMicros: number | undefined;
}

/** An operation on the queues of callers that wait. */
export interface TicketOperation extends Sent<[line: string, sentMs: number]> {
  readonly kind: 'ticket';
  readonly encodedPlan: EncodedPlan;
  readonly encoding: OperationEncoding;
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

export function planOf(operation: Operation): EncodedPlan | undefined {
  if (operation.kind === 'count' || operation.kind === 'renew') return undefined;
  return operation.kind === 'settle' ? operation.receipt.encodedPlan : operation.encodedPlan;
}
