import type { Comparison } from '../compare.js';
import type { Algorithm, NamedQuota, Quota } from '../limits.js';
import type { Account } from '../log/log-account.js';
import type { By } from '../log/request.js';
import type { Simulation } from '../simulate.js';
import type { Refusals, Suggestion } from '../suggest.js';
import type { Timeline } from '../timeline.js';
import type { LogTotals } from './common.js';
import { duration, isoTime } from './words.js';

// What machines read: the names here are promised by the README. Times are ISO 8601, shares from 0 to 1.

/** What all commands tell of the log. */
export type AccountJson = ReturnType<typeof accountJson>;

export function accountJson(account: Account, by: By) {
  const { lines, unparsedLines, firstUnparsed, withoutKeyLines, leftOutLines, firstLeftOut, resolutionMicros } =
    account;
  return {
    by: by.field ?? by.kind,
    log: {
      lines,
      unparsedLines,
      firstUnparsed: firstUnparsed ?? null,
      withoutKeyLines,
      leftOutLines,
      firstLeftOut:
        firstLeftOut === undefined
          ? null
          : { file: firstLeftOut.file, line: firstLeftOut.line, time: isoTime(firstLeftOut.micros) },
      resolutionMs: resolutionMicros / 1000,
    },
  };
}

/** What `simulate --json` prints, beside the account. */
export type SimulationJson = ReturnType<typeof simulationJson>;

export function simulationJson(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation) {
  const { requests, units, callers, refusedRequests, refusedUnits, refusedCallers, refusedByLimit } = found;
  return {
    algorithm,
    from: isoTime(found.firstMicros),
    to: isoTime(found.lastMicros),
    requests,
    units,
    callers,
    refusedRequests,
    refusedRequestsShare: refusedRequests / requests,
    refusedUnits,
    refusedCallers,
    refusedCallersShare: refusedCallers / callers,
    limits: quotas.map((quota) => ({
      name: quota.name,
      ...quotaJson(quota),
      refusedRequests: refusedByLimit[quota.name],
    })),
    worstHit: found.worstHit.map(({ key, requests: asked, refusedRequests: refused, worstBurst }) => ({
      key,
      requests: asked,
      refusedRequests: refused,
      worstBurst: { limit: worstBurst.limit, size: worstBurst.size, at: isoTime(worstBurst.atMicros) },
    })),
    timeline: timelineJson(found.timeline),
  };
}

/** What `suggest --json` prints, beside the account. */
export type SuggestionsJson = ReturnType<typeof suggestionsJson>;

export function suggestionsJson(
  share: number,
  found: readonly Suggestion[],
  { requests, callers, firstMicros, lastMicros }: LogTotals,
) {
  const refusals = ({ limit, refusedRequests, refusedCallers }: Refusals) => ({
    limit,
    refusedRequests,
    refusedRequestsShare: refusedRequests / requests,
    refusedCallers,
    refusedCallersShare: refusedCallers / callers,
  });
  return {
    share,
    from: isoTime(firstMicros),
    to: isoTime(lastMicros),
    requests,
    callers,
    windows: found.map(({ windowMs, forRequests, forCallers, forAll, curve }) => ({
      window: duration(windowMs),
      windowMs,
      forRequests: refusals(forRequests),
      forCallers: refusals(forCallers),
      forAll: refusals(forAll),
      curve: curve.map(refusals),
    })),
  };
}

/** What `compare --json` prints, beside the account. */
export type ComparisonJson = ReturnType<typeof comparisonJson>;

export function comparisonJson(quota: Quota, found: Comparison) {
  return {
    from: isoTime(found.firstMicros),
    to: isoTime(found.lastMicros),
    requests: found.requests,
    callers: found.callers,
    ...quotaJson(quota),
    algorithms: found.rows,
    timeline: timelineJson(found.timeline),
  };
}

function quotaJson({ limit, windowMs }: Quota) {
  return { limit, window: duration(windowMs), windowMs };
}

function timelineJson<Name extends string>({ startMicros, widthMicros, series }: Timeline<Name>) {
  return { from: isoTime(startMicros), widthMs: widthMicros / 1000, ...series };
}
