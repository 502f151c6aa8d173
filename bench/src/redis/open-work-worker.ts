import { concurrency, type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { handleTasks } from '../worker.js';

/** How many checks to make, and how many of them run at once. */
export interface OpenWorkLoad {
  readonly checks: number;
  readonly keyCount: number;
  readonly inFlight: number;
}

/** Checks alone, checks that are settled or released, slots that stay open, or nothing. */
export type OpenWorkTask =
  | (OpenWorkLoad & {
      readonly kind: 'check' | 'settle' /** The newer checks of a key at its settlement. */;
      readonly newer: number;
    })
  | (OpenWorkLoad & { readonly kind: 'slots' })
  | { readonly kind: 'take'; readonly slots: number; readonly leaseMs: number }
  | { readonly kind: 'hold'; readonly seconds: number };

/** This process's processor time in microseconds. */
export type OpenWorkResult = number;

const [url, log] = process.argv.slice(2) as [string, RedisStoreOptions['log']];
const store = new RedisStore({ client: new Redis(url), ...(log === undefined ? {} : { log }) });

/** An application's requests and tokens, as for a language model. */
const limiter = new RateLimiter({
  limits: {
    requests: rollingWindow({ limit: 1e6, window: '10m' }),
    tokens: rollingWindow({ limit: 1e12, window: '10m' }),
  },
  store,
  timeout: '1m', // A busy machine must not end the run.
});

function slotsOf(limit: number, leaseMs: number): RateLimiter {
  return new RateLimiter({ limits: concurrency({ limit, lease: `${leaseMs}ms` }), store, timeout: '1m' });
}

/** Calls `step` for each number, with `inFlight` calls at once. */
async function repeat({ checks, inFlight }: OpenWorkLoad, step: (number: number) => Promise<unknown>): Promise<void> {
  let started = 0;
  const loop = async () => {
    while (started < checks) await step(started++);
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
}

/** Each estimate differs. Half of them are too high, and half are too low. */
async function checkTokens(task: Extract<OpenWorkTask, { newer: number }>): Promise<void> {
  const open = Array.from({ length: task.keyCount }, (): Decision<'requests' | 'tokens'>[] => []);
  await repeat(task, async (number) => {
    const decisions = open[number % task.keyCount]!;
    const key = `key${number % task.keyCount}`;
    decisions.push(await limiter.check(key, { cost: { tokens: 2000 + (number % 400) } }));
    if (decisions.length <= task.newer) return;
    const decision = decisions.shift()!;
    if (task.kind === 'settle') await limiter.settle(decision, { cost: { tokens: number % 2 === 0 ? 1500 : 2500 } });
  });
}

async function run(task: OpenWorkTask): Promise<void> {
  if (task.kind === 'hold') await new Promise((resolve) => setTimeout(resolve, task.seconds * 1000));
  else if (task.kind === 'take') {
    const limiter = slotsOf(task.slots, task.leaseMs);
    await repeat({ checks: task.slots, keyCount: 1, inFlight: 100 }, () => limiter.check('all'));
  } else if (task.kind === 'slots') {
    const limiter = slotsOf(task.inFlight, 30_000);
    await repeat(task, async (number) => limiter.release(await limiter.check(`key${number % task.keyCount}`)));
    await limiter.close();
  } else await checkTokens(task);
}

handleTasks(async (task: OpenWorkTask): Promise<OpenWorkResult> => {
  const before = process.cpuUsage();
  await run(task);
  const { user, system } = process.cpuUsage(before);
  return user + system;
});
