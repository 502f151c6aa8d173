import { isThenable } from '../base/awaitable.js';
import { channel, emitWarning } from '../base/platform.js';
import type { Decision } from '../decision/decision.js';
import type { Key } from '../plan/create-plan.js';
import { formatValue } from '../validation/validate.js';

/** A lease that another process may have taken, because this one could not renew it in time. */
export interface LeaseLoss<Limiter = object> {
  readonly limiter: Limiter;
  readonly key: Key;
  /** The decision of the check that took the slots. Its work may still run. */
  readonly decision: Decision;
}

/** The function of the option `onLeaseLost`. It may be async. */
export type OnLeaseLost = ((loss: LeaseLoss<never>) => void) | undefined;

const losses = channel('rollgate:lease:lost');

let hasWarned = false;

/** Publishes the loss and calls `onLeaseLost`. Never throws, because one timer reports all leases that are lost. */
export function reportLeaseLoss(loss: LeaseLoss, onLeaseLost: OnLeaseLost): void {
  if (losses.hasSubscribers) losses.publish(loss);
  try {
    const returned: unknown = onLeaseLost?.(loss as LeaseLoss<never>);
    if (isThenable(returned)) returned.then(undefined, warnOnce);
  } catch (error) {
    warnOnce(error);
  }
}

function warnOnce(error: unknown): void {
  if (hasWarned) return;
  hasWarned = true;
  const reason = error instanceof Error ? error.message : formatValue(error);
  emitWarning(`The function \`onLeaseLost\` failed: ${reason}`, {
    type: 'RollgateWarning',
    code: 'ROLLGATE_ON_LEASE_LOST_FAILED',
  });
}
