/** A unit that a check has spent, until a refund. */
export interface SpentUnit {
  readonly atMs: number;
  refundedAtMs: number;
}

/** Returns the most units that any window contained. A refunded unit counts until its refund. */
export function mostInWindow(units: readonly SpentUnit[], windowMs: number): number {
  const changes = units.flatMap(({ atMs, refundedAtMs }) => [
    { atMs, units: 1 },
    { atMs: Math.min(atMs + windowMs, refundedAtMs), units: -1 },
  ]);
  // A unit at `t` is not in the window that ends at `t + window`.
  changes.sort((one, other) => one.atMs - other.atMs || one.units - other.units);
  let count = 0;
  let most = 0;
  for (const change of changes) {
    count += change.units;
    most = Math.max(most, count);
  }
  return most;
}
