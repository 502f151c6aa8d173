/**
 * About how far ahead of its clock a limit writes, as a power of two: so little that every state has room for it. Whoever
 * looks at a state later, with whatever numbers, can tell by it a clock that was wrong from a limit that reaches far.
 */
export type Scale = number;

/** The least power of two that is no less than these microseconds. */
export function scaleOf(micros: number): Scale {
  let scale = 0;
  while (2 ** scale < micros) scale += 1;
  return scale;
}

/** In microseconds, by scale: a power costs as much as half a check. */
const REACHES = Array.from({ length: 64 }, (_, scale) => 2 ** (scale + 1));

/** Whether a limit of this scale could have written of a time so far ahead: its own reach, and the same for a clock set back. */
export function isWithinScale(aheadMicros: number, scale: Scale): boolean {
  return aheadMicros <= REACHES[scale]!;
}
