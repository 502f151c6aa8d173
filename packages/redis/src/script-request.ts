import { COUNTER_PART, type Parts } from './algorithm-registry.js';
import type { CheckOperation, CountOperation, Operation, RefundOperation } from './operations.js';
import type { EncodedPlan } from './plan-encoding.js';

type Value = string | number | boolean;

/** What the script takes: see `lua/main.lua`. */
export interface ScriptRequest {
  readonly keys: string[];
  readonly argument: string;
  /** What of the script is needed. */
  readonly parts: Parts;
}

/** Operations, in their order, as the script takes them. */
export function toScriptRequest(operations: readonly Operation[]): ScriptRequest {
  const plans: string[] = [];
  const keys: string[] = [];
  const items: Value[] = [];
  let first: CheckOperation | undefined;
  let times = 0;
  let parts = 0;
  for (const operation of operations) {
    for (const key of operation.keys) keys.push(key);
    if (first !== undefined && isAlike(operation, first)) {
      times += 1;
      continue;
    }
    if (first !== undefined) endRun(items, times, first);
    first = undefined;
    parts |= partsOf(operation);
    if (operation.kind === 'refund') pushRefund(items, operation, plans);
    else if (operation.kind === 'count') pushCount(items, operation);
    else {
      items.push(operation.kind, placeOf(operation.encoded, plans));
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

/** Ends a run of equal questions. */
function endRun(items: Value[], times: number, { clockMicros }: CheckOperation): void {
  items.push(times, clockMicros ?? false);
}

function pushRefund(items: Value[], { receipt, clockMicros }: RefundOperation, plans: string[]): void {
  const { stamp, recordedMicros, cost, encoded, hits } = receipt;
  items.push('refund', placeOf(encoded, plans), cost, clockMicros ?? false, stamp, recordedMicros, hits.length);
  for (const { index, atMicros } of hits) items.push(index + 1, atMicros); // Lua counts from 1.
}

function pushCount(items: Value[], { counter, units, intervalMicros, clockMicros }: CountOperation): void {
  const { widthMicros, spanMicros, expiryMicros } = counter;
  items.push('count', widthMicros, spanMicros, expiryMicros, units, intervalMicros, clockMicros ?? false);
}

function partsOf(operation: Operation): Parts {
  if (operation.kind === 'count') return COUNTER_PART;
  return (operation.kind === 'refund' ? operation.receipt.encoded : operation.encoded).parts;
}

function isAlike(one: Operation, other: CheckOperation): boolean {
  return (
    one.kind === other.kind &&
    one.cost === other.cost &&
    one.clockMicros === other.clockMicros &&
    one.encoded.text === other.encoded.text
  );
}

/** The place of the plan in the request, from 1 as Lua counts; it gets one if it has none. */
function placeOf({ text }: EncodedPlan, plans: string[]): number {
  const place = plans.indexOf(text) + 1;
  return place > 0 ? place : plans.push(text);
}
