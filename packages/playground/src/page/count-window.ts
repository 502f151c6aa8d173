import type { Attempt } from '../shared/protocol.js';
import { isRetained } from '../shared/retention.js';
import { seconds } from './elements.js';
import type { Model } from './model.js';

/** What counts at one moment. */
export interface Counts {
  /** Let through by the limiter, in the last window. */
  readonly rolling: number;
  /** Let through by the fixed window, in the one that runs. */
  readonly fixed: number;
  /** Let through by the fixed window, in the last window: up to twice the limit. */
  readonly fixedRolling: number;
  /** Some of the last window counts no more, as the window or the algorithm was changed since. */
  readonly isCut: boolean;
  /** So does some of the fixed window that runs: then `fixed` and `fixedRolling` are the same. */
  readonly isFixedCut: boolean;
}

/** The time of `rolling` and `fixedRolling`, in words. */
export const lastWindow = ({ isCut }: Counts, windowMs: number): string =>
  isCut ? 'since the change' : `in the last ${seconds(windowMs)}`;

/** The time of `fixed`, in words. */
export const thisWindow = ({ isFixedCut }: Counts): string => (isFixedCut ? 'since the change' : 'in this window');

/** When a request that was let in is passed on. */
export const turnOf = ({ atMs, delayMs }: Attempt): number => atMs + delayMs;

/** Fixed windows lie end to end on the clock. */
export const fixedStart = (momentMs: number, windowMs: number): number => Math.floor(momentMs / windowMs) * windowMs;

/** Counts as the limiters do: a request at `t` counts at `nowMs` when `t > nowMs - window`. */
export function countsAt(model: Model, nowMs: number): Counts {
  const { attempts } = model;
  const { settings, countedFromMs } = model.state;
  const sinceMs = nowMs - settings.windowMs;
  const startMs = fixedStart(nowMs, settings.windowMs);
  let [rolling, fixed, fixedRolling, isCut] = [0, 0, 0, false];
  // A request can be held for a window and still count for another.
  for (let index = model.firstAfter(sinceMs - settings.windowMs); index < attempts.length; index++) {
    const attempt = attempts[index]!;
    const turnMs = turnOf(attempt);
    if (attempt.atMs < countedFromMs) {
      isCut ||= isRetained(attempt) && turnMs > sinceMs;
      continue;
    }
    if (attempt.allowed && turnMs > sinceMs && turnMs <= nowMs) rolling += 1;
    if (!attempt.fixedAllowed || attempt.atMs > nowMs) continue;
    if (attempt.atMs >= startMs) fixed += 1;
    if (attempt.atMs > sinceMs) fixedRolling += 1;
  }
  return { rolling, fixed, fixedRolling, isCut, isFixedCut: isCut && countedFromMs > startMs };
}
