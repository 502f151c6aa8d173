import { Receipt, RecordedHit } from '../engine/recorded-hit.js';
import { FallbackReceipt } from '../failure/decide-by-policy.js';
import type { Limit } from '../limits/limit.js';
import type { LimitedReceipt } from '../store/limited-receipt.js';
import { unsupported } from '../validation/unsupported.js';
import { hasMethods } from '../validation/validate.js';

/** Returns a receipt whose settlement uses these limits instead of those of the check. */
export function withLimits(receipt: unknown, limits: Readonly<Record<string, Limit>>): unknown {
  if (receipt instanceof FallbackReceipt) return new FallbackReceipt(withLimits(receipt.receipt, limits));
  if (receipt instanceof Receipt) {
    return new Receipt(
      receipt.owner,
      receipt.hits.map((hit) => withLimit(hit, limits[hit.rule.name])),
    );
  }
  if (hasMethods(receipt, ['withLimits'])) return (receipt as LimitedReceipt).withLimits(limits);
  throw unsupported('report');
}

function withLimit(hit: RecordedHit, limit: Limit | undefined): RecordedHit {
  if (limit === undefined) return hit;
  const { rule, key, life, atMicros, recordedMicros, cost } = hit;
  const copy = new RecordedHit({ ...rule, limit }, key, life, atMicros, recordedMicros, cost);
  if (hit.isSpent) copy.isSpent = true;
  copy.wantedCost = hit.wantedCost;
  hit.wantedCost = 0; // Only the copy is settled, and a closed call is not renewed.
  return copy;
}
