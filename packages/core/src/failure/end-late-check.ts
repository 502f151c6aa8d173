import { hasLeases } from '../limits/capabilities.js';
import type { Limit } from '../limits/limit.js';
import type { Plan } from '../plan/plan.js';
import type { OnStoreError } from '../store/on-store-error.js';
import type { Store } from '../store/store.js';
import { receiptPart } from './receipt-part.js';

/**
 * Frees slots and closes calls that no caller has, because the policy has decided their check. A policy that may have let the
 * caller go on leaves its units used. Otherwise the call counts as never sent. Reserved units come back after one lease.
 */
export function endLateCheck(store: Store, policy: OnStoreError, { rules }: Plan, receipt: unknown): void {
  if (receipt === undefined) return;
  const isSent = policy === 'allow' || policy === 'fallback';
  const end = (operation: 'release' | 'refund', isEnded: (limit: Limit) => boolean) => {
    const names = rules.filter(({ limit }) => isEnded(limit)).map(({ name }) => name);
    if (names.length === 0) return;
    const part = receiptPart(receipt, names) ?? receipt;
    // If that fails, they end with their leases.
    new Promise((resolve) => resolve(store[operation]?.(part))).catch(() => {});
  };
  const fateOf = (limit: Limit) => (hasLeases(limit) ? limit.onLateReply : 'keep');
  end('release', (limit) => fateOf(limit) === 'release' || (isSent && fateOf(limit) === 'refund'));
  end('refund', (limit) => !isSent && fateOf(limit) === 'refund');
}
