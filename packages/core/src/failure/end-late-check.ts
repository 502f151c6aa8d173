import { Receipt } from '../engine/recorded-hit.js';
import { holdsSlots, type Limit } from '../limits/limit.js';
import type { Plan } from '../plan/plan.js';
import type { LimitedReceipt } from '../store/limited-receipt.js';
import type { OnStoreError } from '../store/on-store-error.js';
import type { Store } from '../store/store.js';

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
    const part = receiptOf(receipt, names);
    // If that fails, they end with their leases.
    new Promise((resolve) => resolve(store[operation]?.(part))).catch(() => {});
  };
  end('release', (limit) => holdsSlots(limit) || (isSent && opensCalls(limit)));
  end('refund', (limit) => !isSent && opensCalls(limit));
}

/**
 * Returns a receipt for what the check recorded in the limits of these names. The receipts of core have no method for this, because
 * each app with a limiter in memory would contain it.
 */
function receiptOf(receipt: unknown, names: readonly string[]): unknown {
  if (!(receipt instanceof Receipt)) return (receipt as Partial<LimitedReceipt>).only?.(names) ?? receipt;
  const hits = receipt.hits.filter(({ rule }) => names.includes(rule.name));
  return new Receipt(receipt.owner, hits);
}

function opensCalls(limit: Limit): boolean {
  return limit.opensCalls === true;
}
