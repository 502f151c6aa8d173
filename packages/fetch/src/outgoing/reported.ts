import type { Limit } from '@rollgate/core';
import { MAX_DURATION_MS, unitsFromZero } from '@rollgate/core/limits';
import {
  invalidNumber,
  invalidOption,
  validateOneOf,
  validateOptionNames,
  validatePositiveInteger,
} from '@rollgate/core/store';
import type { ReportedNumbers } from './report-numbers.js';
import { NOTHING, REFILL, WINDOW } from './reported-state.js';

/** What a server has reported of one quota. Times are milliseconds from now, and may have fractions. */
export interface Reported {
  /** The units that the server has left, a safe integer from 0. Needs `resetMs`. */
  remaining?: number | undefined;
  /**
   * The units of the full quota, a positive safe integer. A call that costs more is never allowed. After a window without it, at
   * least one unit is free, and a call of any cost may start if no other one is open.
   *
   * @defaultValue For `'refill'`, the limit that was known before, and at least `remaining`
   */
  limit?: number | undefined;
  /**
   * When the full quota is back: the end of the window, or the time at which a quota that refills is full. A window that has ended
   * (0) changes nothing that is known.
   */
  resetMs?: number | undefined;
  /**
   * How the quota comes back: `'window'` all at once, or `'refill'` evenly, as in a token bucket.
   *
   * @defaultValue `'window'`
   */
  kind?: 'window' | 'refill' | undefined;
  /**
   * In how long an empty quota refills, if the API documents it. Only `'refill'` uses it.
   *
   * @defaultValue derived from what is missing and `resetMs`
   */
  windowMs?: number | undefined;
  /**
   * Units that calls leave to other clients, a safe integer from 0. Only `'refill'` uses it. A call that could not start otherwise
   * may use them, so a call may take the whole quota when it is full.
   *
   * @defaultValue 0
   */
  reserve?: number | undefined;
  /**
   * The units that the server demanded of a call that it rejected. Only `'refill'` uses it. The call may have needed more than
   * expected although `remaining` was enough. Calls of the key are then expected to take more, up to four times their costs.
   * Otherwise, other clients have taken units. The reserve then grows by twice what was missing, up to four times `reserve`. Each
   * further response lowers the reserve by 0.05%, and what exceeds the costs by 1%.
   *
   * @defaultValue 0, for a call that was allowed
   */
  needed?: number | undefined;
  /** No call starts before, as the header `Retry-After` demands. It never shortens an earlier block. */
  retryAfterMs?: number | undefined;
}

const NAMES = ['remaining', 'limit', 'resetMs', 'kind', 'windowMs', 'reserve', 'needed', 'retryAfterMs'] as const;

/** A limit whose numbers a server reports, as `reportedQuota` creates it. */
export interface ReportableLimit extends Limit {
  /** Returns the limit whose charges and settlements set these numbers. */
  reporting(reported: ReportedNumbers): Limit;
}

/** Whether a server reports the numbers of the limit. */
export function isReportable(limit: Limit): limit is ReportableLimit {
  return typeof (limit as Partial<ReportableLimit>).reporting === 'function';
}

/**
 * Returns the numbers in the form that stores use.
 *
 * @param option The name of `reported` in messages.
 * @throws TypeError, RangeError naming the invalid property.
 */
export function parseReported(option: string, reported: unknown, ageMs: number): ReportedNumbers {
  validateOptionNames(option, reported, NAMES);
  const {
    remaining,
    limit,
    resetMs,
    kind = 'window',
    windowMs = 0,
    reserve = 0,
    needed = 0,
    retryAfterMs = 0,
  } = reported as Reported;
  validateOneOf(`${option}.kind`, kind, ['window', 'refill']);
  const hasNumbers = remaining !== undefined;
  if (hasNumbers !== (resetMs !== undefined)) {
    const missing = hasNumbers ? 'resetMs' : 'remaining';
    throw invalidOption(`${option}.${missing}`, 'a number, because the other one is given', undefined);
  }
  return {
    kind: !hasNumbers ? NOTHING : kind === 'window' ? WINDOW : REFILL,
    remaining: hasNumbers ? unitsFromZero(`${option}.remaining`, remaining) : 0,
    limit: limit === undefined ? 0 : validatePositiveInteger(`${option}.limit`, limit),
    resetMicros: toMicros(`${option}.resetMs`, resetMs ?? 0),
    windowMicros: toMicros(`${option}.windowMs`, windowMs),
    blockMicros: toMicros(`${option}.retryAfterMs`, retryAfterMs),
    ageMicros: toMicros('ageMs', ageMs),
    reserve: unitsFromZero(`${option}.reserve`, reserve),
    needed: unitsFromZero(`${option}.needed`, needed),
  };
}

/** Rounds up, because no call may start too early. */
function toMicros(option: string, ms: unknown): number {
  if (typeof ms === 'number' && ms >= 0) return Math.ceil(Math.min(ms, MAX_DURATION_MS) * 1000);
  throw invalidNumber(option, 'milliseconds from 0', ms);
}
