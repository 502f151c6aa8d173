import type { LimitDecision } from '@rollgate/core';
import type { LimitDescription } from '@rollgate/core/observe';
import { readDuration } from '@rollgate/core/store';
import { UNITS } from '../format-duration.js';
import { formatInteger } from '../report/format-number.js';

/** What a command reports about a key in one limit. */
export interface LimitRow {
  readonly limiter: string;
  readonly limit: string;
  readonly algorithm: string;
  readonly options: LimitDescription['options'];
  /** `null` for `block`, which has no quota. */
  readonly used: number | null;
  readonly quota: number | null;
  readonly remaining: number | null;
  /** What {@link shareOf} returns. */
  readonly share: number;
  readonly allowed: boolean;
  /** `null` for a time that is unknown or never comes. */
  readonly retryAfterMs: number | null;
  readonly resetMs: number | null;
  readonly blocked: boolean;
  /** The units that checks have reserved, of a calendar window. */
  readonly reserved?: number | undefined;
  readonly spent?: number | undefined;
  /** The slots that are taken, of a concurrency limit. */
  readonly slots?: number | undefined;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** The used units of a quota. `null` for `block`, which has none. */
function usedOf({ limit, remaining, spent }: LimitDecision): number | null {
  return Number.isFinite(limit) ? Math.max(limit - remaining, spent ?? 0) : null;
}

/** The used part of the quota, from 0 to 1. 1 for a key that is blocked. */
export function shareOf(result: LimitDecision): number {
  const used = usedOf(result);
  if (used === null) return Number(result.reason === 'blocked');
  return result.limit === 0 ? 1 : used / result.limit;
}

export function toLimitRow(
  limiter: string,
  limit: string,
  { algorithm, options }: LimitDescription,
  result: LimitDecision,
): LimitRow {
  const { allowed, remaining, retryAfterMs, resetMs, reserved, spent } = result;
  const used = usedOf(result);
  const hasSlots = algorithm === 'concurrency';
  const blocked = result.reason === 'blocked';
  return {
    ...{ limiter, limit, algorithm, options },
    ...{ used, quota: finite(result.limit), remaining: finite(remaining) },
    share: shareOf(result),
    ...{ allowed, retryAfterMs: finite(retryAfterMs), resetMs: hasSlots ? null : finite(resetMs), blocked },
    ...(reserved !== undefined && { reserved, spent }),
    ...(hasSlots && { slots: used ?? 0 }),
  };
}

/** Formats a limit's rule as `5 per 1s, blocks for 15m` does, from its description. */
export function formatRule(limit: Pick<LimitDescription, 'algorithm' | 'options'>): string {
  const { blockFor, enforce } = (limit.options ?? {}) as Partial<Record<string, unknown>>;
  const parts = [formatQuota(limit)];
  if (blockFor === Infinity) parts.push('blocks until a reset');
  else if (blockFor !== undefined) parts.push(`blocks for ${formatMs(toMs(blockFor))}`);
  if (enforce === false) parts.push('not enforced');
  return parts.join(', ');
}

function formatQuota({ algorithm, options = {} }: Pick<LimitDescription, 'algorithm' | 'options'>): string {
  const { limit, capacity, window, every, interval, period, refill, lease } = options as Partial<
    Record<string, unknown>
  >;
  const quota = Number(limit ?? capacity);
  const units = Number.isFinite(quota) ? formatInteger(quota) : 'any';
  if (algorithm === 'block') return 'block';
  if (algorithm === 'concurrency') return `${units} slots`;
  if (algorithm === 'token-bucket') return `${units} tokens, ${refill} per ${formatMs(toMs(every))}`;
  if (algorithm === 'leaky-bucket') return `queue of ${units}, one per ${formatMs(toMs(interval))}`;
  if (period !== undefined)
    return `${units} per ${typeof period === 'string' ? period : JSON.stringify(period)}${lease ? ', reserved' : ''}`;
  return `${units} per ${formatMs(toMs(window))}`;
}

/** Descriptions have durations in any unit, such as `1000ms`. */
const toMs = (duration: unknown): number => readDuration(String(duration)) ?? Number.NaN;

/** Formats a time for people, in at most two units: `3m 5s`. */
export function formatMs(ms: number | null): string {
  if (ms === null) return 'never';
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const parts: string[] = [];
  let rest = Math.ceil(ms / 1000) * 1000;
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}

/** Names the state of a key in words. */
export function formatState({ allowed, blocked, retryAfterMs, used, reserved = 0, slots }: LimitRow): string {
  if (blocked) return retryAfterMs === null ? 'blocked' : `blocked for ${formatMs(retryAfterMs)}`;
  const parts = [
    ...(allowed ? [] : [retryAfterMs === null ? 'rejects' : `rejects for ${formatMs(retryAfterMs)}`]),
    ...(reserved > 0 ? [`${formatInteger(reserved)} reserved`] : []),
    ...(slots ? [`${formatInteger(slots)} ${slots === 1 ? 'slot' : 'slots'} taken`] : []),
  ];
  return parts.join(', ') || (used === null ? 'open' : 'allows');
}
