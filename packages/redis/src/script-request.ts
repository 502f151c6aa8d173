import { COUNTER_PART, type ScriptParts } from './algorithm-registry.js';
import { isCheckOperation, type Operation } from './operations.js';

/** The input of a script, as `lua/main.lua` describes it. */
export interface ScriptRequest {
  readonly keys: string[];
  readonly values: string[];
  /** The optional parts of the script that the operations need. */
  readonly parts: ScriptParts;
}

/**
 * Encodes operations in order. Consecutive checks that differ only in their keys become one run.
 *
 * @param hasUsualCheck Whether the script has `lua/usual-check.lua`.
 */
export function toScriptRequest(operations: readonly Operation[], hasUsualCheck: boolean): ScriptRequest {
  const keys: string[] = [];
  const values: string[] = [];
  let first: Operation | undefined;
  let times = 0;
  let parts = 0;
  for (const operation of operations) {
    for (const key of operation.keys) keys.push(key);
    if (first !== undefined && isSameExceptKeys(operation, first)) {
      times += 1;
      continue;
    }
    if (first !== undefined) pushRun(values, first, times, hasUsualCheck);
    parts |= partsOf(operation);
    first = operation;
    times = 1;
  }
  if (first !== undefined) pushRun(values, first, times, hasUsualCheck);
  return { keys, values, parts };
}

function pushRun(values: string[], operation: Operation, times: number, hasUsualCheck: boolean): void {
  if (hasUsualCheck && operation.kind === 'check' && operation.cost === 1) {
    const { clockMicros, keys, encodedPlan } = operation;
    if (encodedPlan.usualLimits !== undefined) {
      values.push('usual', String(times), String(clockMicros ?? ''), String(keys.length), ...encodedPlan.usualLimits);
      return;
    }
  }
  values.push(operation.kind, String(times), planOf(operation), JSON.stringify(inputOf(operation)));
}

function planOf(operation: Operation): string {
  if (operation.kind === 'count') return '[]';
  return (operation.kind === 'refund' ? operation.receipt.encodedPlan : operation.encodedPlan).text;
}

/** The input of an operation, as `lua/operations.lua` describes it. */
function inputOf(operation: Operation): readonly (number | false)[] {
  if (operation.kind === 'reset') return [];
  const now = operation.clockMicros ?? false;
  if (operation.kind === 'count') {
    const { widthMicros, spanMicros, expiryMicros } = operation.counter;
    return [now, widthMicros, spanMicros, expiryMicros, operation.units, operation.intervalMicros];
  }
  if (operation.kind !== 'refund') return [operation.cost, now];
  const { stamp, recordedMicros, cost, hits } = operation.receipt;
  return [cost, now, stamp, recordedMicros, ...hits.flatMap(({ index, atMicros }) => [index + 1, atMicros])]; // Lua counts from 1.
}

function partsOf(operation: Operation): ScriptParts {
  if (operation.kind === 'count') return COUNTER_PART;
  return (operation.kind === 'refund' ? operation.receipt.encodedPlan : operation.encodedPlan).parts;
}

function isSameExceptKeys(one: Operation, other: Operation): boolean {
  return (
    isCheckOperation(one) &&
    isCheckOperation(other) &&
    one.kind === other.kind &&
    one.cost === other.cost &&
    one.clockMicros === other.clockMicros &&
    (one.encodedPlan === other.encodedPlan || one.encodedPlan.text === other.encodedPlan.text)
  );
}
