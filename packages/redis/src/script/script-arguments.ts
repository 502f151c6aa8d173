import { type Costs, costAt, holdsSlots } from '@rollgate/core/store';
import { COUNTER_PART, partOfScript, type ScriptParts, SETTLEMENTS_PART } from '../operations/algorithm-registry.js';
import type { CheckOperation, Operation, SettleOperation, TicketOperation } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';

/** The input of a script, as `lua/program/main.lua` describes it. */
export interface ScriptArguments {
  readonly keys: string[];
  readonly values: string[];
  /** The optional parts of the script that the operations need. */
  readonly parts: ScriptParts;
}

/**
 * Encodes operations in order. Consecutive checks that differ only in their keys become one run. So do settlements of the same
 * rules.
 *
 * @param hasPlainWindowCheck Whether the script has `lua/program/plain-window-check.lua`.
 */
export function toScriptArguments(operations: readonly Operation[], hasPlainWindowCheck: boolean): ScriptArguments {
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
    parts |= encoding === undefined ? partsOf(first) : encoding.parts;
    if (encoding !== undefined) values.push(encoding.kind, '1', encoding.plan, encoding.input);
    else if (hasPlainWindowCheck && isPlainWindowCheck(first)) pushPlainWindowChecks(values, first, index + 1 - start);
    else pushRun(values, operations.slice(start, index + 1));
    if (first.kind === 'check' && first.queueCount) values.push('unless-queued', String(first.queueCount));
    start = index + 1;
  }
  return { keys, values, parts };
}

function partsOf(operation: Operation): ScriptParts {
  switch (operation.kind) {
    case 'count':
      return COUNTER_PART;
    case 'renew':
      return partOfScript(operation.script);
    case 'settle':
      return operation.receipt.encodedPlan.parts | SETTLEMENTS_PART;
    case 'charge':
      return operation.encodedPlan.parts | SETTLEMENTS_PART;
    default:
      return operation.encodedPlan.parts;
  }
}

/** Whether `plain-window-check.lua` can decide the operation. */
function isPlainWindowCheck(operation: Operation): operation is PlainWindowCheck {
  if (operation.kind !== 'check' || operation.encodedPlan.plainWindows === undefined) return false;
  const { costs, encodedPlan } = operation;
  return typeof costs === 'number' ? costs > 0 : encodedPlan.plan.rules.length > 1 && costs.every((cost) => cost > 0);
}

type PlainWindowCheck = CheckOperation & { readonly encodedPlan: { readonly plainWindows: readonly string[] } };

function pushPlainWindowChecks(
  values: string[],
  { clockMicros, costs, encodedPlan }: PlainWindowCheck,
  times: number,
): void {
  const now = String(clockMicros ?? '');
  const cost = String(typeof costs === 'number' ? costs : 0);
  values.push('plain', String(times), now, cost, String(encodedPlan.plan.rules.length), ...encodedPlan.plainWindows);
  if (typeof costs !== 'number') values.push(...costs.map(String));
}

function pushRun(values: string[], run: readonly Operation[]): void {
  const first = run[0] as Exclude<Operation, TicketOperation>;
  values.push(first.kind, String(run.length), planOf(first), JSON.stringify(inputOf(run)));
}

function planOf(operation: Exclude<Operation, TicketOperation>): string {
  if (operation.kind === 'count') return '[]';
  if (operation.kind === 'renew') return JSON.stringify([operation.script, 0, 0]);
  return (operation.kind === 'settle' ? operation.receipt.encodedPlan : operation.encodedPlan).text;
}

/** The input of a run, as `lua/program/operations.lua` describes it. */
function inputOf(run: readonly Operation[]): readonly (number | false)[] {
  const operation = run[0] as Exclude<Operation, TicketOperation>;
  switch (operation.kind) {
    case 'check':
    case 'peek': {
      const { costs, clockMicros } = operation;
      return typeof costs === 'number' ? [costs, clockMicros ?? false] : [0, clockMicros ?? false, ...costs];
    }
    case 'charge': {
      const { number, clockMicros, encodedPlan, costs } = operation;
      // A charge takes no slot, because only a check may.
      const chargedCosts = encodedPlan.plan.rules.map(({ limit }, index) =>
        holdsSlots(limit) ? 0 : costAt(costs, index),
      );
      return [number, clockMicros ?? false, ...chargedCosts];
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

function inputOfSettlement({ number, clockMicros, receipt, hits }: SettleOperation): readonly (number | false)[] {
  const { stamp, recordedMicros } = receipt;
  // Lua counts from 1.
  const figures = hits.flatMap(({ index, atMicros, cost, settledCost }) => [index + 1, atMicros, cost, settledCost]);
  return [number, clockMicros ?? false, stamp, recordedMicros, ...figures];
}

/** Whether `next` continues the run of operations that starts with `first`. */
function canShareRun(first: Operation, next: Operation): boolean {
  if (first.kind === 'settle') return next.kind === 'settle' && areSettledAlike(first, next);
  return (
    (first.kind === 'check' || first.kind === 'peek') &&
    first.kind === next.kind &&
    first.encoding === undefined &&
    next.encoding === undefined &&
    first.queueCount === next.queueCount &&
    areSameExceptKeys(first, next)
  );
}

function areSameExceptKeys(one: CheckOperation, other: CheckOperation): boolean {
  return (
    one.clockMicros === other.clockMicros &&
    areSameCosts(one.costs, other.costs) &&
    areSamePlans(one.encodedPlan, other.encodedPlan)
  );
}

/** Whether both settle the same number of rules of one plan. A number adds a key to the operation. */
function areSettledAlike(one: SettleOperation, other: SettleOperation): boolean {
  return (
    one.hits.length === other.hits.length &&
    (one.number === false) === (other.number === false) &&
    areSamePlans(one.receipt.encodedPlan, other.receipt.encodedPlan)
  );
}

function areSamePlans(one: EncodedPlan, other: EncodedPlan): boolean {
  return one === other || one.text === other.text;
}

function areSameCosts(one: Costs, other: Costs): boolean {
  if (one === other || typeof one === 'number' || typeof other === 'number') return one === other;
  return one.length === other.length && one.every((cost, index) => cost === other[index]);
}
