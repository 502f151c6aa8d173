import { type Duration, parseDuration } from '../validation/duration.js';
import { invalidNumber } from '../validation/validate.js';
import type { Clock } from './clock.js';

/** A clock that stands still until a test advances it. See {@link manualClock}. */
export interface ManualClock extends Clock {
  schedule(atMs: number, callback: () => void): () => void;
  /**
   * Advances the time, in milliseconds or by text such as `'30s'`. Scheduled callbacks run in the order of their times,
   * each at its own time.
   *
   * @throws TypeError, RangeError if the duration is invalid or negative.
   */
  advance(duration: Duration): void;
}

/**
 * Creates a clock for tests. Everything that waits follows the clock of its store: `wait`, delays of a queue, timeouts of
 * stores, and leases. So a test needs no sleeps and no fake timers.
 *
 * @param startMs The first time, in milliseconds.
 * @defaultValue 0
 * @throws TypeError, RangeError if `startMs` is not a finite number.
 * @example
 * ```ts
 * import { manualClock, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * const clock = manualClock();
 * const limiter = new RateLimiter({
 *   limits: rollingWindow({ limit: 1, window: '1m' }),
 *   store: new MemoryStore({ clock }),
 * });
 * (await limiter.check('ann')).allowed; // => true
 * const waiting = limiter.wait('ann');
 * clock.advance('1m');
 * (await waiting).allowed; // => true
 * ```
 */
export function manualClock(startMs = 0): ManualClock {
  if (!Number.isFinite(startMs)) throw invalidNumber('startMs', 'a finite number of milliseconds', startMs);
  let nowMs = startMs;
  /** In the order of their times. */
  const scheduled: { readonly atMs: number; readonly callback: () => void }[] = [];

  function schedule(atMs: number, callback: () => void): () => void {
    if (!Number.isFinite(atMs)) throw invalidNumber('atMs', 'a finite number of milliseconds', atMs);
    const entry = { atMs, callback };
    const later = scheduled.findIndex((other) => other.atMs > atMs);
    scheduled.splice(later < 0 ? scheduled.length : later, 0, entry);
    // The caller expects to return before its callback runs.
    if (atMs <= nowMs) queueMicrotask(() => runUntil(nowMs));
    return function cancel() {
      const index = scheduled.indexOf(entry);
      if (index >= 0) scheduled.splice(index, 1);
    };
  }

  function runUntil(endMs: number): void {
    for (let first = scheduled[0]; first !== undefined && first.atMs <= endMs; first = scheduled[0]) {
      scheduled.shift();
      nowMs = Math.max(nowMs, first.atMs);
      first.callback();
    }
    nowMs = Math.max(nowMs, endMs);
  }

  const advance = (duration: Duration) => runUntil(nowMs + toMilliseconds(duration));
  return { now: () => nowMs, schedule, advance };
}

/** A number may have fractions, because a clock has microseconds. */
function toMilliseconds(duration: unknown): number {
  if (typeof duration !== 'number') return parseDuration('duration', duration);
  if (Number.isFinite(duration) && duration >= 0) return duration;
  throw invalidNumber('duration', "a duration such as '30s' or milliseconds from 0", duration);
}
