import type { Attempt } from '../shared/protocol.js';
import { isRetained } from '../shared/retention.js';
import { seconds } from './elements.js';
import type { Model } from './model.js';

/** The requests that count at one moment. */
export interface Counts {
  /** How many the limiter allowed in the last window. */
  readonly rolling: number;
  /** How many the fixed window allowed since it started. */
  readonly fixed: number;
  /** How many the fixed window allowed in the last window, up to twice the limit. */
  readonly fixedRolling: number;
  /** Whether a change of the window or algorithm removed requests of the last window. */
  readonly isCut: boolean;
  /** Whether it removed requests of the current fixed window. Then `fixed` and `fixedRolling` are equal. */
  readonly isFixedCut: boolean;
}

/** The period of `rolling` and `fixedRolling` as text. */
export const lastWindow = ({ isCut }: Counts, windowMs: number): string =>
  isCut ? 'since the change' : `in the last ${seconds(windowMs)}`;

/** The period of `fixed` as text. */
export const thisWindow = ({ isFixedCut }: Counts): string => (isFixedCut ? 'since the change' : 'in this window');

/** When an allowed request starts, after its delay. */
export const startOf = ({ atMs, delayMs }: Attempt): number => atMs + delayMs;

/** When the fixed window at this moment started. Fixed windows follow each other by the clock. */
export const fixedStart = (momentMs: number, windowMs: number): number => Math.floor(momentMs / windowMs) * windowMs;

/** Counts like the limiters: a request at `t` counts at `nowMs` if `t > nowMs - window`. */
export function countsAt(model: Model, nowMs: number): Counts {
  const { attempts } = model;
  const { settings, countedFromMs } = model.state;
  const sinceMs = nowMs - settings.windowMs;
  const startMs = fixedStart(nowMs, settings.windowMs);
  let [rolling, fixed, fixedRolling, isCut] = [0, 0, 0, false];
  // A request can be delayed for a window, and then count for another.
  for (let index = model.firstAfter(sinceMs - settings.windowMs); index < attempts.length; index++) {
    const attempt = attempts[index]!;
    const startedMs = startOf(attempt);
    if (attempt.atMs < countedFromMs) {
      isCut ||= isRetained(attempt) && startedMs > sinceMs;
      continue;
    }
    if (attempt.allowed && startedMs > sinceMs && startedMs <= nowMs) rolling += 1;
    if (!attempt.fixedAllowed || attempt.atMs > nowMs) continue;
    if (attempt.atMs >= startMs) fixed += 1;
    if (attempt.atMs > sinceMs) fixedRolling += 1;
  }
  return { rolling, fixed, fixedRolling, isCut, isFixedCut: isCut && countedFromMs > startMs };
}
