import type { Operation } from '../operations/operations.js';
import { type EncodedPlan, encodePeriods } from '../operations/plan-encoder.js';

/**
 * How often an operation is sent at most with other periods. Once is enough unless the server's time changes by more than a
 * period until then.
 */
const MAX_ATTEMPTS = 3;

/** Whether to send the operation again with the periods of the time at which it failed. It has changed nothing then. */
export function takesOtherPeriods(operation: Operation, error: Error, attempt: number): boolean {
  const [, micros] = /^(?:ERR )?Expected the period of (-?\d+)/.exec(error.message) ?? [];
  const encodedPlan = planOf(operation);
  if (micros === undefined || encodedPlan === undefined || attempt >= MAX_ATTEMPTS) return false;
  encodePeriods(encodedPlan, Number(micros));
  return true;
}

function planOf(operation: Operation): EncodedPlan | undefined {
  if (operation.kind === 'count' || operation.kind === 'renew') return undefined;
  return operation.kind === 'settle' ? operation.receipt.encodedPlan : operation.encodedPlan;
}
