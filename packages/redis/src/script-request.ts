import { COUNTER_PART, type ScriptParts } from './algorithm-registry.js';
import type { CheckOperation, CountOperation, Operation, RefundOperation } from './operations.js';
import type { EncodedPlan } from './plan-encoding.js';

type Value = string | number | boolean;

/** The input of a script, as `lua/main.lua` describes it. */
export interface ScriptRequest {
  readonly keys: string[];
  readonly argument: string;
  /** The optional parts of the script that the operations need. */
  readonly parts: ScriptParts;
}

/** Encodes operations in order. Consecutive checks that differ only in their keys become one run. */
export function toScriptRequest(operations: readonly Operation[]): ScriptRequest {
  const plans: string[] = [];
  const keys: string[] = [];
  const items: Value[] = [];
  let first: CheckOperation | undefined;
  let times = 0;
  let parts = 0;
  for (const operation of operations) {
    for (const key of operation.keys) keys.push(key);
    if (first !== undefined && isSameExceptKeys(operation, first)) {
      times += 1;
      continue;
    }
    if (first !== undefined) endRun(items, times, first);
    first = undefined;
    parts |= partsOf(operation);
    if (operation.kind === 'refund') pushRefund(items, operation, plans);
    else if (operation.kind === 'count') pushCount(items, operation);
    else {
      items.push(operation.kind, planNumber(operation.encodedPlan, plans));
      if (operation.kind === 'reset') continue;
      items.push(operation.cost);
      first = operation;
      times = 1;
    }
  }
  if (first !== undefined) endRun(items, times, first);
  const argument = `[${[plans.length, ...plans, JSON.stringify(items).slice(1)].join(',')}`;
  return { keys, argument, parts };
}

function endRun(items: Value[], times: number, { clockMicros }: CheckOperation): void {
  items.push(times, clockMicros ?? false);
}

function pushRefund(items: Value[], { receipt, clockMicros }: RefundOperation, plans: string[]): void {
  const { stamp, recordedMicros, cost, encodedPlan, hits } = receipt;
  const plan = planNumber(encodedPlan, plans);
  items.push('refund', plan, cost, clockMicros ?? false, stamp, recordedMicros, hits.length);
  for (const { index, atMicros } of hits) items.push(index + 1, atMicros); // Lua counts from 1.
}

function pushCount(items: Value[], { counter, units, intervalMicros, clockMicros }: CountOperation): void {
  const { widthMicros, spanMicros, expiryMicros } = counter;
  items.push('count', widthMicros, spanMicros, expiryMicros, units, intervalMicros, clockMicros ?? false);
}

function partsOf(operation: Operation): ScriptParts {
  if (operation.kind === 'count') return COUNTER_PART;
  return (operation.kind === 'refund' ? operation.receipt.encodedPlan : operation.encodedPlan).parts;
}

function isSameExceptKeys(one: Operation, other: CheckOperation): boolean {
  return (
    one.kind === other.kind &&
    one.cost === other.cost &&
    one.clockMicros === other.clockMicros &&
    one.encodedPlan.text === other.encodedPlan.text
  );
}

/** The number of the plan in the request, from 1 as Lua counts. Adds the plan if the request does not contain it yet. */
function planNumber({ text }: EncodedPlan, plans: string[]): number {
  const number = plans.indexOf(text) + 1;
  return number > 0 ? number : plans.push(text);
}
