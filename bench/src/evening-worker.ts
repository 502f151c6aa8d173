import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiter } from '@rollgate/core';
import { describeLimiter } from '@rollgate/core/observe';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { percentile } from './statistics.js';
import { handleTasks } from './worker.js';

/** What one of the processes does: creates its part of the keys, or checks random ones until it stops. */
export type EveningTask =
  | { readonly kind: 'fill'; readonly from: number; readonly to: number }
  | { readonly kind: 'load'; readonly users: number; readonly perSecond: number }
  | { readonly kind: 'stop' };

/** What a process has done in its load, which is 0 for other tasks. */
export interface EveningResult {
  readonly checks: number;
  readonly medianMs: number;
  readonly slowMs: number;
}

const NOTHING = { checks: 0, medianMs: 0, slowMs: 0 };
/** How many checks are in flight while the keys are created. */
const TOGETHER = 500;

const client = new Redis(process.argv[2]!);
const limiter = new RateLimiter({
  name: 'api',
  prefix: 'api',
  limits: '100/1d',
  store: new RedisStore({ client }),
  timeout: '1m',
});
await describeLimiter(limiter).ready;

let finish: ReturnType<typeof load> | undefined;

handleTasks(async (task: EveningTask): Promise<EveningResult> => {
  if (task.kind === 'fill') await fill(task.from, task.to);
  else if (task.kind === 'load') finish = load(task.users, task.perSecond);
  return task.kind === 'stop' ? await finish!() : NOTHING;
});

async function fill(from: number, to: number): Promise<void> {
  for (let user = from; user < to; user += TOGETHER) {
    const some = Array.from({ length: Math.min(TOGETHER, to - user) }, (_, index) => user + index);
    await Promise.all(some.map((one) => limiter.check(`user:${one}`, { cost: 1 + ((one * 7) % 60) })));
  }
}

/** Checks random keys at a steady rate, and one abuser all the time. Returns what ends it. */
function load(users: number, perSecond: number): () => Promise<EveningResult> {
  const durations: number[] = [];
  let isOver = false;
  const check = async (key: string) => {
    const start = performance.now();
    await limiter.check(key);
    durations.push(performance.now() - start);
  };
  const run = async () => {
    const start = performance.now();
    for (let sent = 0; !isOver; await delay(1)) {
      const due = ((performance.now() - start) / 1000) * perSecond;
      for (; sent < due; sent++) void check(`user:${Math.floor(Math.random() * users)}`);
      void limiter.check('abuser');
    }
  };
  const running = run();
  return async () => {
    isOver = true;
    await running;
    return { checks: durations.length, medianMs: percentile(durations, 0.5), slowMs: percentile(durations, 0.99) };
  };
}
