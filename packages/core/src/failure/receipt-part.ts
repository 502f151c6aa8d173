import { Receipt } from '../engine/recorded-hit.js';
import type { LimitedReceipt } from '../store/limited-receipt.js';
import { FallbackReceipt } from './decide-by-policy.js';

/**
 * Returns a receipt for what the check recorded in the limits of these names, or `undefined` if the receipt cannot be divided. The
 * receipts of core have no method for this, because each app with a limiter in memory would contain it.
 */
export function receiptPart(receipt: unknown, names: readonly string[]): unknown {
  if (receipt instanceof FallbackReceipt) return new FallbackReceipt(receiptPart(receipt.receipt, names));
  if (!(receipt instanceof Receipt)) return (receipt as Partial<LimitedReceipt>).only?.(names);
  return new Receipt(
    receipt.owner,
    receipt.hits.filter(({ rule }) => names.includes(rule.name)),
  );
}
