import type { Dialect, QuotaReport, ResponseHead, ResponseReport } from '../dialects/dialect.js';
import { readStatus } from '../dialects/retry-after.js';

/** A report whose numbers are valid and bounded. */
export interface Report extends ResponseReport {
  readonly quotas: readonly QuotaReport[];
  readonly isRejected: boolean;
  readonly scope: 'call' | 'route' | 'bucket';
  readonly mayRetry: boolean;
}

/**
 * Returns what a response reports in the first dialect that reports it. No number of it stops calls for more than `maxBlockMs`,
 * whatever the headers contain.
 */
export function readReport(dialects: readonly Dialect[], response: ResponseHead, maxBlockMs: number): Report {
  const reports = dialects.flatMap((dialect) => dialect.read(response) ?? []);
  const first = <Name extends keyof ResponseReport>(name: Name): ResponseReport[Name] =>
    reports.find((report) => report[name] !== undefined)?.[name];
  const status = readStatus(response);
  const quotas = reports.find((report) => report.quotas?.length)?.quotas ?? [];
  const isRejected = first('isRejected') ?? status.isRejected!;
  const retryAfterMs = toMs(first('retryAfterMs') ?? status.retryAfterMs, maxBlockMs);
  return {
    quotas: quotas.flatMap((quota) => toValid(quota, maxBlockMs) ?? []),
    isRejected,
    retryAfterMs: isRejected ? retryAfterMs : undefined,
    scope: first('scope') ?? 'route',
    mayRetry: first('mayRetry') ?? true,
    cost: first('cost'),
  };
}

/** Returns the quota with integers, or `undefined` if it has other numbers. A dialect may be the user's. */
function toValid(quota: QuotaReport, maxBlockMs: number): QuotaReport | undefined {
  const resetMs = toMs(quota.resetMs, maxBlockMs);
  const remaining = toUnits(quota.remaining);
  if (resetMs === undefined || remaining === undefined) return undefined;
  // Some servers send a limit of 0 with a rejection.
  const limit = toUnits(quota.limit) || undefined;
  return { ...quota, limit, remaining: Math.min(remaining, limit ?? remaining), resetMs };
}

function toUnits(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 ? Math.floor(Math.min(value, Number.MAX_SAFE_INTEGER)) : undefined;
}

function toMs(value: number | undefined, mostMs: number): number | undefined {
  return value !== undefined && value >= 0 ? Math.ceil(Math.min(value, mostMs)) : undefined;
}
