/** Formats seconds, such as `10 s` or `0.3 s`. */
export function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}

/** Formats seconds, rounded up to tenths, so that a countdown never ends too early. */
export function formatSecondsRoundedUp(ms: number): string {
  return `${(Math.ceil(ms / 100) / 10).toFixed(1)} s`;
}

/** Formats a count with its noun, such as `1 request` or `2 requests`. */
export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats how many times the limit a count is, such as `2 × the limit`. */
export function formatTimesTheLimit(most: number, limit: number): string {
  return `${Number((most / limit).toFixed(1))} × the limit`;
}
