import { concurrency, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { usedBytes } from './heap.js';
import { handleTasks } from './worker.js';

export interface MemoryWorkTask {
  readonly calls: number;
  readonly keyCount: number;
  readonly slots: number;
}

/** Nanoseconds of processor time, and bytes. */
export interface MemoryWorkResult {
  readonly check: number;
  readonly checkAndSettle: number;
  readonly checkAndRelease: number;
  readonly slotBytes: number;
}

async function nanosPerCall({ calls, keyCount }: MemoryWorkTask, step: (key: string, turn: number) => unknown) {
  const keys = Array.from({ length: keyCount }, (_, index) => `key${index}`);
  const before = process.cpuUsage();
  for (let turn = 0; turn < calls; turn++) await step(keys[turn % keyCount]!, turn);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / calls;
}

function createTokenLimiter() {
  const limits = {
    requests: rollingWindow({ limit: 1e6, window: '10m' }),
    tokens: rollingWindow({ limit: 1e12, window: '10m' }),
  };
  return new RateLimiter({ limits, store: new MemoryStore() });
}

const createSlotLimiter = (limit: number) =>
  new RateLimiter({ limits: concurrency({ limit, lease: '30s' }), store: new MemoryStore() });

/** The store's bytes per slot. The decisions belong to the application. */
async function bytesPerSlot(slots: number): Promise<number> {
  const limiter = createSlotLimiter(slots);
  const before = usedBytes();
  for (let slot = 0; slot < slots; slot++) await limiter.check('all');
  await flushPromises();
  const bytes = usedBytes() - before;
  if ((await limiter.peek('all')).remaining > 0) throw new Error('Expected all slots to be open');
  return bytes / slots;
}

handleTasks(async (task: MemoryWorkTask): Promise<MemoryWorkResult> => {
  const [checked, settled, slots] = [createTokenLimiter(), createTokenLimiter(), createSlotLimiter(1000)];
  return {
    check: await nanosPerCall(task, (key, turn) => checked.check(key, { cost: { tokens: 2000 + (turn % 400) } })),
    // Half of the estimates are too high, and half are too low.
    checkAndSettle: await nanosPerCall(task, async (key, turn) => {
      const decision = await settled.check(key, { cost: { tokens: 2000 + (turn % 400) } });
      await settled.settle(decision, { cost: { tokens: turn % 2 === 0 ? 1500 : 2500 } });
    }),
    checkAndRelease: await nanosPerCall(task, async (key) => slots.release(await slots.check(key))),
    slotBytes: await bytesPerSlot(task.slots),
  };
});
