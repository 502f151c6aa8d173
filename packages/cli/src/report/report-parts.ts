import { leakyIntervalMs, type Quota } from '../algorithms.js';
import { formatDuration } from '../format-duration.js';
import type { Timeline } from '../timeline.js';
import type { Totals } from '../totals.js';
import { formatQuota, formatTime } from './format.js';
import { formatCount, formatInteger, formatPercent } from './format-number.js';
import type { Chart } from './report.js';

/** The totals at the start of every report. */
export type LogTotals = Pick<Totals, 'requests' | 'callers' | 'firstMicros' | 'lastMicros'>;

export function describeTotals({ requests, callers, firstMicros, lastMicros }: LogTotals): string {
  const span = `${formatTime(firstMicros)} to ${formatTime(lastMicros)} UTC`;
  return `${formatCount(requests, 'request')} of ${formatCount(callers, 'caller')}, ${span}`;
}

/** Code as a fact of a report, whose lines begin with two blanks. */
export function toCodeFact(code: string): string {
  return code.replace(/^/gm, '  ');
}

/** Describes what a limit would have rejected, as in `70/1m would have rejected 5 of 5,000 requests (0.1%), all from one caller`. */
export function describeVerdict(
  limits: string,
  { rejectedRequests, rejectedCallers }: { readonly rejectedRequests: number; readonly rejectedCallers: number },
  { requests, callers }: LogTotals,
): string {
  const of = formatCount(requests, 'request');
  if (rejectedRequests === 0) return `${limits} would have rejected none of ${of}`;
  const share = `${formatInteger(rejectedRequests)} of ${of} (${formatPercent(rejectedRequests, requests)})`;
  const from =
    rejectedCallers === 1
      ? 'all from one caller'
      : `from ${formatInteger(rejectedCallers)} of ${formatCount(callers, 'caller')} (${formatPercent(rejectedCallers, callers)})`;
  return `${limits} would have rejected ${share}, ${from}`;
}

/** Explains where the queue of a leaky bucket differs from the quota. */
export function createLeakyNotes(quotas: readonly Quota[]): string[] {
  return quotas
    .filter((quota) => leakyIntervalMs(quota) !== quota.windowMs / quota.limit)
    .map((quota) => {
      const rate = `${formatQuota(quota)} is one request per ${Number((quota.windowMs / quota.limit).toPrecision(6))} ms`;
      return `leaky: ${rate}. The queue rounds this up to whole milliseconds, one request per ${leakyIntervalMs(quota)} ms.`;
    });
}

export function createTimeChart<Name extends string>(
  title: string,
  { startMicros, widthMicros, series }: Timeline<Name>,
  names: readonly Name[],
): Pick<Chart, 'title' | 'widthMs' | 'axis' | 'xs' | 'series'> {
  return {
    title,
    widthMs: widthMicros / 1000,
    axis: 'time',
    xs: series[names[0]!].map((_, index) => (startMicros + index * widthMicros) / 1e6),
    series: names.map((name) => ({ name, values: series[name] })),
  };
}

/** Returns a title such as `Rejected, each 30s` for a chart along the time. */
export function titleOf(title: string, widthMs: number | undefined): string {
  return widthMs === undefined ? title : `${title}, each ${formatDuration(widthMs)}`;
}
