import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** A process that reads its turn later than this gets its old place back, so that the next caller may start before it. */
const LATE_MS = 20;

/**
 * Runs `work`, which returns what started, in order. Expects exactly this order, unless the machine was so busy meanwhile that the
 * timers of this process or replies of the server came late. Then it expects that all have started.
 */
export async function expectOrder(client: Redis, work: () => Promise<number[]>, expected: readonly number[]) {
  let isDone = false;
  let lateMs = 0;
  const probe = async () => {
    while (!isDone) {
      const startMs = performance.now();
      await setTimeout(1);
      await client.ping();
      lateMs = Math.max(lateMs, performance.now() - startMs);
    }
  };
  const probing = probe();
  const started = await work().finally(() => {
    isDone = true;
  });
  await probing;
  const sorted = (indices: readonly number[]) =>
    lateMs >= LATE_MS ? [...indices].sort((one, other) => one - other) : indices;
  expect(sorted(started)).toEqual(sorted(expected));
}
