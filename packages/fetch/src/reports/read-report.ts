import type { Dialect, QuotaReport, ResponseHead, ResponseReport } from '../dialects/dialect.js';
import { isOverload, readStatus } from '../dialects/retry-after.js';
import { warnOfError } from '../warn-of-error.js';

/** A report whose numbers are valid and bounded. */
export interface Report extends ResponseReport {
  readonly quotas: readonly QuotaReport[];
  readonly isRejected: boolean;
  /** Whether the server has too much work, so a rejection shows nothing of the quotas. */
  readonly isOverload: boolean;
  readonly scope: 'call' | 'route' | 'bucket';
  readonly mayRetry: boolean;
}

/**
 * Returns what a response reports in the first dialect that reports it. No number of it stops calls for more than `maxBlockMs`,
 * whatever the headers contain. A dialect that throws reports nothing.
 */
export function readReport(dialects: readonly Dialect[], response: ResponseHead, maxBlockMs: number): Report {
  const reports = dialects.flatMap((dialect) => readDialect(dialect, response, maxBlockMs) ?? []);
  const first = <Name extends keyof ResponseReport>(name: Name): ResponseReport[Name] =>
    reports.find((report) => report[name] !== undefined)?.[name];
  const status = readStatus(response);
  const isRejected = first('isRejected') ?? status.isRejected!;
  const retryAfterMs = toMs(first('retryAfterMs') ?? status.retryAfterMs, maxBlockMs);
  return {
    quotas: reports.find((report) => report.quotas?.length)?.quotas ?? [],
    isRejected,
    isOverload: isOverload(response),
    retryAfterMs: isRejected ? retryAfterMs : undefined,
    scope: first('scope') ?? 'route',
    mayRetry: first('mayRetry') ?? true,
    cost: first('cost'),
  };
}

/** Whether a dialect needs the body of this response. */
export function readsBody(dialects: readonly Dialect[], response: ResponseHead): boolean {
  return dialects.some((dialect) => {
    try {
      return dialect.readsBody?.(response);
    } catch (error) {
      return warnOfFailure(dialect, error);
    }
  });
}

function readDialect(dialect: Dialect, response: ResponseHead, maxBlockMs: number): ResponseReport | undefined {
  try {
    const report = dialect.read(response);
    if (!report) return undefined;
    return {
      ...report,
      quotas: report.quotas?.flatMap((quota) => toValid(quota, maxBlockMs) ?? []),
      cost: report.cost && toValidCost(report.cost),
    };
  } catch (error) {
    return warnOfFailure(dialect, error);
  }
}

function warnOfFailure({ name }: Dialect, error: unknown): undefined {
  const message = `The dialect \`${name}\` failed on a response, so the response reports nothing in it`;
  warnOfError('ROLLGATE_DIALECT_FAILED', message, error);
}

/** Returns the quota with integers, or `undefined` if it has other numbers. A dialect may be the user's. */
function toValid(quota: QuotaReport, maxBlockMs: number): QuotaReport | undefined {
  // A refill that lasts longer stops no call for longer, and shows the rate.
  const resetMs = toMs(quota.resetMs, quota.kind === 'refill' ? Number.MAX_SAFE_INTEGER : maxBlockMs);
  const remaining = toUnits(quota.remaining);
  if (resetMs === undefined || remaining === undefined) return undefined;
  // Some servers send a limit of 0 with a rejection.
  const limit = toUnits(quota.limit) || undefined;
  return { ...quota, limit, remaining: Math.min(remaining, limit ?? remaining), resetMs };
}

/** Returns the units that are valid, rounded up. */
function toValidCost(cost: Readonly<Record<string, number>>): Record<string, number> {
  const units = Object.entries(cost).map(([unit, value]) => [unit, toUnits(Math.ceil(value))] as const);
  return Object.fromEntries(units.filter((one): one is readonly [string, number] => one[1] !== undefined));
}

function toUnits(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 ? Math.floor(Math.min(value, Number.MAX_SAFE_INTEGER)) : undefined;
}

function toMs(value: number | undefined, mostMs: number): number | undefined {
  return value !== undefined && value >= 0 ? Math.ceil(Math.min(value, mostMs)) : undefined;
}
