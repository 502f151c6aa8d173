import type { Quota } from '../algorithms.js';
import { formatSpan } from '../calendar-span.js';

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
