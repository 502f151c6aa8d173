import type { Hit } from './log-lines';

/** A naive log of every request let through: what the command's engine is held against. */
export function naive(hits: readonly Hit[], limit: number, windowMs: number) {
  const letThrough = new Map<string, number[]>();
  const refusedBy = new Map<string, number>();
  for (const { ms, ip } of inOrder(hits)) {
    const times = letThrough.get(ip) ?? [];
    letThrough.set(ip, times);
    if (times.filter((time) => time > ms - windowMs).length < limit) times.push(ms);
    else refusedBy.set(ip, (refusedBy.get(ip) ?? 0) + 1);
  }
  const refusedRequests = [...refusedBy.values()].reduce((sum, count) => sum + count, 0);
  return { refusedRequests, refusedCallers: refusedBy.size, refusedBy };
}

/** The most that a caller asked for within one window, and when that was reached first. */
export function worstBurst(hits: readonly Hit[], caller: string, windowMs: number): { size: number; atMs: number } {
  const times = inOrder(hits)
    .filter(({ ip }) => ip === caller)
    .map(({ ms }) => ms);
  let worst = { size: 0, atMs: 0 };
  for (const [index, atMs] of times.entries()) {
    const size = times.slice(0, index + 1).filter((time) => time > atMs - windowMs).length;
    if (size > worst.size) worst = { size, atMs };
  }
  return worst;
}

export function inOrder<Timed extends { readonly ms: number }>(hits: readonly Timed[]): Timed[] {
  return [...hits].sort((one, other) => one.ms - other.ms);
}
