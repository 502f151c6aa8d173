import type { Limit } from '@rollgate/core';
import { costAt } from '@rollgate/core/store';
import { CHANGES_PART, COUNTER_PART, partOfScript, type ScriptParts } from '../operations/algorithm-registry.js';
import {
  type CheckOperation,
  type Operation,
  planOf,
  type SettleOperation,
  type TicketOperation,
} from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';

/**
 * Encodes operations in order. Consecutive checks that differ only in their keys become one run. So do settlements of the same
 * rules.
 */
export function toScriptArguments(operations: readonly Operation[]) {
  const keys: string[] = [];
  const values: string[] = [];
  let parts = 0;
  let start = 0;
  for (let index = 0; index < operations.length; index++) {
    const first = operations[start]!;
    for (const key of operations[index]!.keys) keys.push(key);
    const next = operations[index + 1];
    if (next !== undefined && canShareRun(first, next)) continue;
    const encoding = 'encoding' in first ? first.encoding : undefined; // An optional part of the store may bring it.
    parts |= first.kind === 'check' ? (encoding ?? first.encodedPlan).parts : (encoding?.parts ?? partsOf(first));
    if (encoding !== undefined) values.push(encoding.kind, '1', encoding.plan, encoding.input);
    else if (
      start === 0 &&
      next === undefined &&
      first.kind === 'check' &&
      first.costs === 1 &&
      first.clockMicros === undefined &&
      !first.queueCount &&
      !first.encodedPlan.isUnenforced
    ) {
      // The script assumes the rest.
      const { plainWindow, text } = first.encodedPlan;
      values.push(...(plainWindow ?? [text]));
    } else pushRun(values, operations.slice(start, index + 1));
    if (first.kind === 'check' && first.queueCount) values.push('unless-queued', String(first.queueCount));
    start = index + 1;
  }
  return { keys, values, parts };
}

function pushRun(values: string[], run: readonly Operation[]): void {
  const first = run[0]!;
  values.push(first.kind, String(run.length));
  if (first.kind === 'check' || first.kind === 'peek') {
    const { encodedPlan, clockMicros, costs } = first;
    values.push(
      encodedPlan.text,
      String(clockMicros ?? ''),
      typeof costs === 'number' ? String(costs) : costs.join(' '),
    );
  } else {
    const plan = 'script' in first ? first.script : (planOf(first)?.text ?? '');
    values.push(plan, JSON.stringify(inputOf(run as readonly Change[])));
  }
}

function partsOf(operation: Operation): ScriptParts {
  if (operation.kind === 'count') return COUNTER_PART;
  const parts = operation.kind === 'renew' ? partOfScript(operation.script) : planOf(operation)!.parts;
  return operation.kind === 'peek' ? parts : parts | CHANGES_PART;
}

type Change = Exclude<Operation, TicketOperation | CheckOperation>;

/** The input of a run, as `lua/program/main.lua` describes it. */
function inputOf(run: readonly Change[]): readonly (number | boolean)[] {
  const operation = run[0]!;
  switch (operation.kind) {
    case 'charge': {
      const { number, clockMicros, encodedPlan, costs } = operation;
      const chargedCosts = encodedPlan.plan.rules.map(({ limit }, index) => chargedCost(limit, costAt(costs, index)));
      const isBeyond = encodedPlan.plan.rules.some(({ limit }) => limit.givesBack === 'beyond');
      return [number, clockMicros ?? false, ...chargedCosts, ...(isBeyond ? [true] : [])];
    }
    case 'settle':
      return (run as readonly SettleOperation[]).flatMap(inputOfSettlement);
    case 'reset':
      return [];
    case 'renew':
      return [
        operation.clockMicros ?? false,
        ...operation.leases.flatMap(({ limit, leaseMicros, units, id }) => [limit, leaseMicros, units, id]),
      ];
    case 'count': {
      const { clockMicros, counter, units, intervalMicros } = operation;
      const { widthMicros, spanMicros, expiryMicros } = counter;
      return [clockMicros ?? false, widthMicros, spanMicros, expiryMicros, units, intervalMicros];
    }
  }
}

/** What a charge records, or what it gives back as a negative number. It takes no slot, because only a check may. */
function chargedCost(limit: Limit, cost: number): number {
  if (limit.holdsSlots) return 0;
  return limit.givesBack ? -cost : cost;
}

function inputOfSettlement({ number, clockMicros, receipt, hits }: SettleOperation): readonly (number | false)[] {
  const { stamp, recordedMicros } = receipt;
  // Lua counts from 1.
  const figures = hits.flatMap(({ index, atMicros, cost, settledCost }) => [index + 1, atMicros, cost, settledCost]);
  return [number, clockMicros ?? false, stamp, recordedMicros, ...figures];
}

/** Whether `next` continues the run of operations that starts with `first`. */
function canShareRun(first: Operation, next: Operation): boolean {
  if (first.kind === 'settle' && next.kind === 'settle') {
    return (
      first.hits.length === next.hits.length &&
      (first.number === false) === (next.number === false) && // A number adds a key to the operation.
      areSamePlans(first.receipt.encodedPlan, next.receipt.encodedPlan)
    );
  }
  return (
    (first.kind === 'check' || first.kind === 'peek') &&
    first.kind === next.kind &&
    first.encoding === undefined &&
    next.encoding === undefined &&
    first.queueCount === next.queueCount &&
    first.clockMicros === next.clockMicros &&
    (first.costs === next.costs || String(first.costs) === String(next.costs)) &&
    areSamePlans(first.encodedPlan, next.encodedPlan)
  );
}

function areSamePlans(one: EncodedPlan, other: EncodedPlan): boolean {
  return one === other || one.text === other.text;
}
