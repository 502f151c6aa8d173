import type { Hit } from './log-lines';

/** Decides with a naive log of every allowed request, to compare with the command. */
export function naive(hits: readonly Hit[], limit: number, windowMs: number) {
  const allowed = new Map<string, Hit[]>();
  const rejectedBy = new Map<string, number>();
  for (const hit of inOrder(hits)) {
    const { ms, ip, cost = 1 } = hit;
    const before = allowed.get(ip) ?? [];
    allowed.set(ip, before);
    const used = before.filter((other) => other.ms > ms - windowMs).reduce((sum, other) => sum + (other.cost ?? 1), 0);
    if (used + cost <= limit) before.push(hit);
    else rejectedBy.set(ip, (rejectedBy.get(ip) ?? 0) + 1);
  }
  const rejectedRequests = [...rejectedBy.values()].reduce((sum, count) => sum + count, 0);
  return { rejectedRequests, rejectedCallers: rejectedBy.size, rejectedBy };
}

/** The most requests of a caller within one window, and when it first reached them. */
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
