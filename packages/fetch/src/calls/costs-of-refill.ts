import type { QuotaReport } from '../dialects/dialect.js';
import type { Reported } from '../outgoing/reported.js';
import type { Report } from '../reports/read-report.js';
import { limitName } from './outgoing-limits.js';

/** What was expected of a call, by limit, and the units of which its user has estimated the cost. */
interface Costs {
  readonly cost: Readonly<Record<string, number>>;
  readonly estimates: readonly string[];
}

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
 */
export function costsOfRefill(
  quota: QuotaReport,
  largest: number,
  costs: Costs,
  report: Report,
): Pick<Reported, 'reserve' | 'needed'> {
  const { kind, limit = 0, remaining, resetMs } = quota;
  if (kind !== 'refill') return {};
  const reserve = Math.floor(Math.min(largest, limit * LARGEST_PART));
  if (!mayHaveRejected(quota, costs, report)) return { reserve };
  // What is added until the server allows the call.
  const perMs = resetMs === 0 ? 0 : (limit - remaining) / resetMs;
  return {
    reserve,
    needed: Math.min(remaining + Math.max(1, Math.ceil((report.retryAfterMs ?? 0) * perMs)), Number.MAX_SAFE_INTEGER),
  };
}

/**
 * Whether the server may have rejected a call because of this quota: not if it has too much work, or if another unit was lacking. If
 * none was, an estimate was too low, probably that of the unit which had the fewest left for its cost.
 */
function mayHaveRejected(quota: QuotaReport, { cost, estimates }: Costs, report: Report): boolean {
  if (!report.isRejected || report.isOverload) return false;
  const costOf = ({ unit }: QuotaReport) => Math.max(1, cost[limitName(unit)] ?? 0);
  const lacking = report.quotas.filter((one) => one.remaining < costOf(one));
  if (lacking.length > 0) return lacking.some(({ unit }) => unit === quota.unit);
  const shareOf = (one: QuotaReport) => (estimates.includes(one.unit) ? one.remaining / costOf(one) : Infinity);
  return shareOf(quota) < Infinity && report.quotas.every((one) => shareOf(quota) <= shareOf(one));
}
