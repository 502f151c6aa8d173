import { isThenable } from '../base/awaitable.js';
import { channel } from '../base/platform.js';
import type { Decision } from '../decision/decision.js';
import type { Key } from '../plan/create-plan.js';
import { messageOf } from '../validation/validate.js';
import { warnOnce } from '../validation/warn-once.js';

/** The loss of a lease of slots or reserved units. Another process may have them, because this one could not renew it in time. */
export interface LeaseLoss<Limiter = object> {
  readonly limiter: Limiter;
  readonly key: Key;
  /** The decision of the check that took the slots, or that reserved the units. Its work may still run. */
  readonly decision: Decision;
}

/** The function of the option `onLeaseLost`. It may be async. */
export type OnLeaseLost = ((loss: LeaseLoss<never>) => void) | undefined;

const losses = channel('rollgate:lease:lost');

/** Publishes the loss and calls `onLeaseLost`. Never throws, because one timer reports all leases that are lost. */
export function reportLeaseLoss(loss: LeaseLoss, onLeaseLost: OnLeaseLost): void {
  if (losses.hasSubscribers) losses.publish(loss);
  try {
    const returned: unknown = onLeaseLost?.(loss as LeaseLoss<never>);
    if (isThenable(returned)) returned.then(undefined, warnAbout);
  } catch (error) {
    warnAbout(error);
  }
}

function warnAbout(error: unknown): void {
  warnOnce('ROLLGATE_ON_LEASE_LOST_FAILED', `The function \`onLeaseLost\` failed: ${messageOf(error)}`);
}
