import type { Limit } from '@rollgate/core';
import { unknownLimitMessage } from '@rollgate/core/limits';
import { optionError } from '@rollgate/core/store';
import { isReportable, parseReported } from './reported.js';
import type { OtherLimits } from './settle-by-limits.js';

/** The message for a limiter without a limit for the numbers. */
const NOT_REPORTABLE =
  'Expected a limit of `reportedQuota()`, got none. Add one to `limits`, such as `api: reportedQuota({ lease: … })`';

/**
 * Returns the limits whose charges and settlements set these numbers.
 *
 * @param reported Numbers for all limits of `reportedQuota`, or a record of numbers by their names.
 * @throws TypeError, RangeError if the numbers are invalid or of another limit.
 */
export function toReportingLimits(
  rules: readonly { readonly name: string; readonly limit: Limit }[],
  reported: unknown,
  ageMs: number,
): OtherLimits {
  const reportable = rules.flatMap(({ name, limit }) => (isReportable(limit) ? [{ name, limit }] : []));
  if (reportable.length === 0) throw optionError(NOT_REPORTABLE);
  if (!isRecord(reported)) {
    const numbers = parseReported('reported', reported, ageMs);
    return Object.fromEntries(reportable.map(({ name, limit }) => [name, limit.reporting(numbers)]));
  }
  const names = reportable.map(({ name }) => name);
  const unknown = Object.keys(reported).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw optionError(unknownLimitMessage('reported', unknown, names));
  }
  return Object.fromEntries(
    reportable.flatMap(({ name, limit }) => {
      const own = Object.hasOwn(reported, name) ? reported[name] : undefined;
      return own === undefined ? [] : [[name, limit.reporting(parseReported(`reported.${name}`, own, ageMs))]];
    }),
  );
}

/** Without any number, a `report` with `keepOpen` leaves the reported quotas open. */
export function isEmpty(reported: unknown): boolean {
  return typeof reported === 'object' && reported !== null && Object.keys(reported).length === 0;
}

function isRecord(reported: unknown): reported is Record<string, unknown> {
  return (
    typeof reported === 'object' && reported !== null && Object.values(reported).some((one) => typeof one === 'object')
  );
}
