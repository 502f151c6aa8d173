import { MAX_DURATION_MS } from '../validation/duration.js';
import type { State } from './limit.js';

/**
 * How far ahead of its clock a limit may write, as a power of two, so that it takes little memory in each state. A
 * limit that reads the state later uses it to distinguish a wrong clock from a limit with a long window.
 */
export type Scale = number;

/** Returns the exponent of the smallest power of two that is at least `micros`. */
export function scaleOf(micros: number): Scale {
  let scale = 0;
  while (2 ** scale < micros) scale += 1;
  return scale;
}

/** The reach of each scale in microseconds. Computing a power takes half as long as a check. */
const REACHES = /* @__PURE__ */ Array.from({ length: 64 }, (_, scale) => 2 ** (scale + 1));

/**
 * Whether a limit of this scale could have written a time so far ahead, if the clock has stepped back by at most its
 * reach.
 */
export function isWithinScale(aheadMicros: number, scale: Scale): boolean {
  return aheadMicros <= REACHES[scale]!;
}

/** Up to here, the end of a debt is a safe integer. */
const MAX_AHEAD_MICROS = MAX_DURATION_MS * 1000;

/**
 * Keeps a state plausible whose time is further ahead than its limit allows by itself, because of an overdraft. The debt
 * ends after 100 years at most. `timeIndex` and `scaleIndex` are places in the state. Returns whether the time changed.
 */
export function boundDebt(
  { numbers, start }: State,
  timeIndex: number,
  scaleIndex: number,
  nowMicros: number,
): boolean {
  const time = start + timeIndex;
  const scale = start + scaleIndex;
  const isTooLong = numbers[time]! - nowMicros > MAX_AHEAD_MICROS;
  if (isTooLong) numbers[time] = nowMicros + MAX_AHEAD_MICROS;
  numbers[scale] = Math.max(numbers[scale]!, scaleOf(numbers[time]! - nowMicros));
  return isTooLong;
}
