/** The exponent of the smallest power of two that is at least this many microseconds. */
export function scaleOf(micros: number): number {
  let scale = 0;
  while (2 ** scale < micros) scale += 1;
  return scale;
}

/** Whether a time is further ahead than a correct clock can have caused, for a record of this scale. */
export const isTooFarAhead = (time: number, now: number, scale: number): boolean => time - now > 2 ** (scale + 1);
