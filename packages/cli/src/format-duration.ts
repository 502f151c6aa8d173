/** Units of time by their milliseconds, the largest first. */
export const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** Formats a duration as options take it: `1m`, `90s`, `250ms`. */
export function formatDuration(ms: number): string {
  const [unit, length] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1];
  return `${ms / length}${unit}`;
}
