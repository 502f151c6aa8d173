import type { Algorithm, NamedQuota, Quota } from '../algorithms.js';
import { formatSpan, type Span } from '../calendar-span.js';
import type { Comparison } from '../comparer.js';
import type { LogSummary } from '../log/log-summary.js';
import type { KeySource } from '../log/request.js';
import type { Simulation } from '../simulator.js';
import type { Rejections, Suggestion } from '../suggestion.js';
import type { Timeline } from '../timeline.js';
import type { Warning } from '../warnings.js';
import { toIsoTime } from './format.js';
import type { LogTotals } from './report-parts.js';

// docs/cli.md documents these names. Times are ISO 8601, and shares are numbers from 0 to 1.

/** The part of the JSON output that all commands share. */
export type LogJson = ReturnType<typeof toLogJson>;

export function toLogJson(summary: LogSummary, keySource: KeySource, warnings: readonly Warning[]) {
  const { lines, unparsedLines, firstUnparsed, withoutKeyLines, filteredLines, leftOutLines, firstLeftOut } = summary;
  return {
    by: keySource.field ?? keySource.kind,
    log: {
      lines,
      unparsedLines,
      firstUnparsed: firstUnparsed ?? null,
      withoutKeyLines,
      filteredLines,
      leftOutLines,
      firstLeftOut:
        firstLeftOut === undefined
          ? null
          : { file: firstLeftOut.file, line: firstLeftOut.line, time: toIsoTime(firstLeftOut.micros) },
      resolutionMs: summary.resolutionMicros / 1000,
      formats: summary.formats.map((format) => ({ ...format, note: format.note ?? null })),
    },
    warnings: warnings.map(({ text }) => text),
  };
}

/** What `simulate --json` prints, in addition to {@link LogJson}. */
export type SimulationJson = ReturnType<typeof toSimulationJson>;

export function toSimulationJson(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation) {
  const { units, rejectedUnits, rejectedByLimit } = found;
  return {
    ...{ algorithm, ...toTotalsJson(found), units, ...toRejectionsJson(found, found), rejectedUnits },
    limits: quotas.map(({ name, ...quota }) => ({
      name,
      ...toQuotaJson(quota),
      rejectedRequests: rejectedByLimit[name],
      rejectedAlone: found.rejectedAlone[name],
      highestDemand: found.demands[name],
    })),
    worstHit: found.worstHit.map(({ worstBurst: { limit, size, atMicros }, ...hit }) => ({
      ...hit,
      worstBurst: { limit, size, at: toIsoTime(atMicros) },
    })),
    timeline: toTimelineJson(found.timeline),
  };
}

/** What `suggest --json` prints, in addition to {@link LogJson}. */
export type SuggestionsJson = ReturnType<typeof toSuggestionsJson>;

export function toSuggestionsJson(share: number, found: readonly Suggestion[], totals: LogTotals) {
  const rejections = ({ limit, ...counts }: Rejections) => ({ limit, ...toRejectionsJson(counts, totals) });
  return {
    share,
    ...toTotalsJson(totals),
    windows: found.map(({ span, forRequests, forCallers, forAll, curve, heaviest }) => ({
      ...toSpanJson(span),
      forRequests: rejections(forRequests),
      forCallers: rejections(forCallers),
      forAll: rejections(forAll),
      curve: curve.map(rejections),
      heaviest: {
        key: heaviest.key,
        demand: heaviest.demand,
        limitWithoutIt: heaviest.withoutIt?.limit ?? null,
        withoutIt: heaviest.withoutIt === undefined ? null : rejections(heaviest.withoutIt),
      },
    })),
  };
}

/** What `compare --json` prints, in addition to {@link LogJson}. */
export type ComparisonJson = ReturnType<typeof toComparisonJson>;

export function toComparisonJson(quota: Quota, found: Comparison) {
  return {
    ...toTotalsJson(found),
    ...toQuotaJson(quota),
    algorithms: found.rows,
    worstShift: found.worstShift,
    timeline: toTimelineJson(found.timeline),
  };
}

const toTotalsJson = ({ firstMicros, lastMicros, requests, callers }: LogTotals) => ({
  from: toIsoTime(firstMicros),
  to: toIsoTime(lastMicros),
  ...{ requests, callers },
});

function toRejectionsJson(
  { rejectedRequests, rejectedCallers }: Omit<Rejections, 'limit'>,
  { requests, callers }: LogTotals,
) {
  return {
    rejectedRequests,
    rejectedRequestsShare: rejectedRequests / requests,
    rejectedCallers,
    rejectedCallersShare: rejectedCallers / callers,
  };
}

function toQuotaJson({ limit, ...span }: Quota) {
  return { limit, ...toSpanJson(span) };
}

/** With periods of a calendar, `calendar` has the options of `calendarWindow`. */
function toSpanJson(span: Span) {
  const { windowMs, periods } = span;
  return { window: formatSpan(span), windowMs, ...(periods === undefined ? {} : { calendar: periods }) };
}

function toTimelineJson<Name extends string>({ startMicros, widthMicros, series }: Timeline<Name>) {
  return { from: toIsoTime(startMicros), widthMs: widthMicros / 1000, ...series };
}
