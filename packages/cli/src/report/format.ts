import type { Quota } from '../algorithms.js';
import { formatSpan } from '../calendar-span.js';

/** Formats a number as `1,234`. */
export function formatInteger(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats a count as `1 caller` or `2 callers`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatInteger(count)} ${count === 1 ? one : many}`;
}

/** Formats a share as `0.261%`, with three significant digits. */
export function formatPercent(part: number, all: number): string {
  const share = all === 0 ? 0 : (part / all) * 100;
  return `${Number(share >= 10 ? share.toFixed(1) : share.toPrecision(3))}%`;
}

/** Formats a quota as `100/1m` or `100/month`. */
export function formatQuota(quota: Quota): string {
  return `${quota.limit}/${formatSpan(quota)}`;
}

/** Formats microseconds since the epoch as ISO 8601. */
export function toIsoTime(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString();
}

/** Formats microseconds since the epoch as `2015-05-17 10:05:03`, in UTC. */
export function formatTime(micros: number): string {
  return toIsoTime(micros).slice(0, 19).replace('T', ' ');
}
