/** Formats a number as `1,234`. */
export function formatInteger(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats a count as `1 caller` or `2 callers`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatInteger(count)} ${count === 1 ? one : many}`;
}

/** Formats a share as `0.261%`, with three significant digits. */
export function formatPercent(part: number, all: number): string {
  const share = all === 0 ? 0 : (part / all) * 100;
  return `${Number(share >= 10 ? share.toFixed(1) : share.toPrecision(3))}%`;
}
