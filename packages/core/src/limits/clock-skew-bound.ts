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
const REACHES = Array.from({ length: 64 }, (_, scale) => 2 ** (scale + 1));

/**
 * Whether a limit of this scale could have written a time so far ahead, if the clock has stepped back by at most its
 * reach.
 */
export function isWithinScale(aheadMicros: number, scale: Scale): boolean {
  return aheadMicros <= REACHES[scale]!;
}
