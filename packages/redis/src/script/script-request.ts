import { type Costs, costAt, holdsSlots } from '@rollgate/core/store';
import { COUNTER_PART, LEASES_PART, type ScriptParts, SETTLEMENTS_PART } from '../operations/algorithm-registry.js';
import type { CheckOperation, Operation, SettleOperation } from '../operations/operations.js';

const NONE: SettleOperation[] = [];

/** The input of a script, as `lua/main.lua` describes it. */
export interface ScriptRequest {
  readonly keys: string[];
  readonly values: string[];
  /** The optional parts of the script that the operations need. */
  readonly parts: ScriptParts;
}

/**
 * Encodes operations in order. Consecutive checks that differ only in their keys become one run. So do settlements of the same
 * rules.
 *
 * @param hasUsualCheck Whether the script has `lua/usual-check.lua`.
 */
export function toScriptRequest(operations: readonly Operation[], hasUsualCheck: boolean): ScriptRequest {
  const keys: string[] = [];
  const values: string[] = [];
  let first: Operation | undefined;
  let settlements: SettleOperation[] = [];
  let times = 0;
  let parts = 0;
  for (const operation of operations) {
    for (const key of operation.keys) keys.push(key);
    const isSettlement = operation.kind === 'settle';
    if (
      isSettlement
        ? isSettledLike(operation, settlements[0])
        : first !== undefined && isSameExceptKeys(operation, first)
    ) {
      if (isSettlement) settlements.push(operation);
      times += 1;
      continue;
    }
    if (first !== undefined) pushRun(values, first, times, settlements, hasUsualCheck);
    parts |= partsOf(operation);
    first = operation;
    settlements = isSettlement ? [operation] : NONE;
    times = 1;
  }
  if (first !== undefined) pushRun(values, first, times, settlements, hasUsualCheck);
  return { keys, values, parts };
}

function pushRun(
  values: string[],
  operation: Operation,
  times: number,
  settlements: readonly SettleOperation[],
  hasUsualCheck: boolean,
): void {
  if (hasUsualCheck && operation.kind === 'check') {
    const { clockMicros, keys, encodedPlan } = operation;
    const costs = keys.length === 1 ? costAt(operation.costs, 0) : operation.costs;
    if (encodedPlan.usualLimits !== undefined && isEachPositive(costs)) {
      const cost = String(typeof costs === 'number' ? costs : 0);
      const now = String(clockMicros ?? '');
      values.push('usual', String(times), now, cost, String(keys.length), ...encodedPlan.usualLimits);
      if (typeof costs !== 'number') values.push(...costs.map(String));
      return;
    }
  }
  const input = operation.kind === 'settle' ? settlements.flatMap(settleInputOf) : inputOf(operation);
  values.push(operation.kind, String(times), planOf(operation), JSON.stringify(input));
}

function planOf(operation: Operation): string {
  if (operation.kind === 'count' || operation.kind === 'renew') return '[]';
  return (operation.kind === 'settle' ? operation.receipt.encodedPlan : operation.encodedPlan).text;
}

/** The input of an operation, as `lua/operations.lua` describes it. */
function inputOf(operation: Exclude<Operation, SettleOperation>): readonly (number | false)[] {
  if (operation.kind === 'reset') return [];
  const now = operation.clockMicros ?? false;
  if (operation.kind === 'count') {
    const { widthMicros, spanMicros, expiryMicros } = operation.counter;
    return [now, widthMicros, spanMicros, expiryMicros, operation.units, operation.intervalMicros];
  }
  if (operation.kind === 'renew') {
    const input: (number | false)[] = [now];
    for (const { limit, leaseMicros, units, id } of operation.leases) input.push(limit, leaseMicros, units, id);
    return input;
  }
  const { costs } = operation;
  if (operation.kind === 'charge') {
    const { plan } = operation.encodedPlan;
    // A charge takes no slot, because only a check may.
    return [
      operation.number,
      now,
      ...plan.rules.map(({ limit }, index) => (holdsSlots(limit) ? 0 : costAt(costs, index))),
    ];
  }
  return typeof costs === 'number' ? [costs, now] : [0, now, ...costs];
}

function settleInputOf({ number, clockMicros, receipt, hits }: SettleOperation): readonly (number | false)[] {
  const input: (number | false)[] = [number, clockMicros ?? false, receipt.stamp, receipt.recordedMicros];
  for (const { index, atMicros, cost, settledCost } of hits) input.push(index + 1, atMicros, cost, settledCost); // Lua counts from 1.
  return input;
}

function partsOf(operation: Operation): ScriptParts {
  if (operation.kind === 'count') return COUNTER_PART;
  if (operation.kind === 'renew') return LEASES_PART;
  if (operation.kind === 'settle') return operation.receipt.encodedPlan.parts | SETTLEMENTS_PART;
  return operation.kind === 'charge' ? operation.encodedPlan.parts | SETTLEMENTS_PART : operation.encodedPlan.parts;
}

function isSameExceptKeys(one: Operation, other: Operation): boolean {
  return (
    isCheckOrPeek(one) &&
    isCheckOrPeek(other) &&
    one.kind === other.kind &&
    areSameCosts(one.costs, other.costs) &&
    one.clockMicros === other.clockMicros &&
    (one.encodedPlan === other.encodedPlan || one.encodedPlan.text === other.encodedPlan.text)
  );
}

/** Whether both settle the same number of rules of one plan. A number adds a key to the operation. */
function isSettledLike(one: SettleOperation, other: SettleOperation | undefined): boolean {
  return (
    other !== undefined &&
    one.hits.length === other.hits.length &&
    (one.number === false) === (other.number === false) &&
    (one.receipt.encodedPlan === other.receipt.encodedPlan ||
      one.receipt.encodedPlan.text === other.receipt.encodedPlan.text)
  );
}

function isCheckOrPeek(operation: Operation): operation is CheckOperation {
  return operation.kind === 'check' || operation.kind === 'peek';
}

/** Whether each rule has a cost of at least 1. */
function isEachPositive(costs: Costs): boolean {
  return typeof costs === 'number' ? costs > 0 : costs.every((cost) => cost > 0);
}

function areSameCosts(one: Costs, other: Costs): boolean {
  if (one === other || typeof one === 'number' || typeof other === 'number') return one === other;
  return one.length === other.length && one.every((cost, index) => cost === other[index]);
}
