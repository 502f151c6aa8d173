import type { Told } from '@rollgate/core/outgoing';
import type { QuotaReport } from '../dialects/dialect.js';
import type { Report } from '../reports/read-report.js';
import { limitName } from './outgoing-limits.js';

/** The part of a quota that calls leave to other clients at most, before rejections show what these take. */
const LARGEST_PART = 1 / 10;

/**
 * Returns how much of a quota that refills calls leave to other clients, and what the server demanded of a call that it has
 * rejected. The store learns from that what calls take, and what others take, for all processes.
 *
 * Calls that wait start as soon as there are enough units. So there must be a reserve for what others take until the next response.
 * It only lowers the level of the quota, so it delays calls once. It is the cost of a call, because others may make similar ones.
 *
 * @param largest The largest cost of a call.
 * @param costs What was expected of the call, by limit.
 */
export function costsOfRefill(
  quota: QuotaReport,
  largest: number,
  costs: Readonly<Record<string, number>>,
  report: Report,
): Pick<Told, 'reserve' | 'needed'> {
  const { kind, limit = 0, remaining, resetMs } = quota;
  if (kind !== 'refill') return {};
  const reserve = Math.floor(Math.min(largest, limit * LARGEST_PART));
  if (!mayHaveRejected(quota, costs, report)) return { reserve };
  // What is added until the server allows the call.
  const perMs = resetMs === 0 ? 0 : (limit - remaining) / resetMs;
  return { reserve, needed: remaining + Math.max(1, Math.ceil((report.retryAfterMs ?? 0) * perMs)) };
}

/** Whether the server may have rejected a call because of this quota: not if it has too much work, or if another unit was lacking. */
function mayHaveRejected({ unit }: QuotaReport, costs: Readonly<Record<string, number>>, report: Report): boolean {
  if (!report.isRejected || report.isOverload) return false;
  const lacking = report.quotas.filter((quota) => quota.remaining < Math.max(1, costs[limitName(quota.unit)] ?? 0));
  return lacking.length === 0 || lacking.some((quota) => quota.unit === unit);
}
