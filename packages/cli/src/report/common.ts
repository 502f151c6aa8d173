import { leakyIntervalMs, type Quota } from '../limits.js';
import type { Timeline } from '../timeline.js';
import type { Totals } from '../totals.js';
import type { Chart } from './report.js';
import { counted, duration, quotaText, time } from './words.js';

/** What every report begins with. */
export type LogTotals = Pick<Totals, 'requests' | 'callers' | 'firstMicros' | 'lastMicros'>;

export function totalsFact({ requests, callers, firstMicros, lastMicros }: LogTotals): string {
  const span = `${time(firstMicros)} to ${time(lastMicros)} UTC`;
  return `${counted(requests, 'request')} of ${counted(callers, 'caller')}, ${span}`;
}

/** Where the queue cannot do what the quota says. */
export function leakyNotes(quotas: readonly Quota[]): string[] {
  return quotas
    .filter((quota) => leakyIntervalMs(quota) !== quota.windowMs / quota.limit)
    .map((quota) => {
      const asked = `${quotaText(quota)} is one each ${Number((quota.windowMs / quota.limit).toPrecision(6))} ms`;
      return `leaky: ${asked}; the queue takes whole milliseconds, and lets one go each ${leakyIntervalMs(quota)} ms.`;
    });
}

/** A timeline's series, along the log. */
export function timeChart<Name extends string>(
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

/** `Refused, each 30s`, where the chart is along the time. */
export function titleOf(title: string, widthMs: number | undefined): string {
  return widthMs === undefined ? title : `${title}, each ${duration(widthMs)}`;
}
