import { type Limits, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { type FairWaiting, fairWaiting } from '@rollgate/redis/waiting';
import Bottleneck from 'bottleneck';
import { Redis } from 'ioredis';
import { LIMIT, limitsOf, type Scenario, WINDOW_MS } from './load.js';

/** Waits for a unit and starts the action. Resolves to what frees the unit again, unless the library has no such thing. */
type Wait = (action: () => void) => Promise<(() => Promise<unknown>) | undefined>;

/** Creates the client of one process. Its connections work, and the server knows its scripts. */
type CreateWait = (redisUrl: string, process: number, scenario: Scenario) => Promise<Wait>;

const createPlain: CreateWait = (redisUrl, ...rest) => createRollgate(new Redis(redisUrl), ...rest);

const createFair: CreateWait = (redisUrl, ...rest) => {
  const client = new Redis(redisUrl);
  return createRollgate(client, ...rest, fairWaiting({ subscriber: client.duplicate(), lease: '3s' }));
};

async function createRollgate(
  client: Redis,
  process: number,
  scenario: Scenario,
  waiting?: FairWaiting,
): Promise<Wait> {
  const limiter = new RateLimiter({
    limits: createLimits(scenario),
    store: new RedisStore({ client, waiting }),
    timeout: '10s',
  });
  await limiter.refund(await limiter.wait(warmUpKey(process)));
  const limits = Object.entries(limitsOf(scenario));
  const key = Object.fromEntries(limits.map(([name, { clientOf }]) => [name, clientOf(process)]));
  return async (action) => {
    const decision = await limiter.wait(key);
    action();
    return () => limiter.refund(decision);
  };
}

function createLimits(scenario: Scenario): Limits {
  const every = `${WINDOW_MS}ms` as const;
  if (scenario === 'a token bucket') return { all: tokenBucket({ capacity: LIMIT, refill: LIMIT, every }) };
  const limits = Object.entries(limitsOf(scenario));
  return Object.fromEntries(
    limits.map(([name, { limit, windowMs }]) => [name, rollingWindow({ limit, window: `${windowMs}ms` })]),
  );
}

/** By this key, `arrivals.ts` recognizes the process. */
export const warmUpKey = (process: number): string => `warm-up-${process}`;

/** In a cluster, its reservoirs need intervals of 5 seconds, so the limit becomes a distance between starts. */
const createBottleneck: CreateWait = async (redisUrl) => {
  const { hostname: host, port } = new URL(redisUrl);
  const limiter = new Bottleneck({
    id: 'my-app',
    datastore: 'ioredis',
    clientOptions: { host, port: Number(port) },
    Redis,
    minTime: WINDOW_MS / LIMIT,
  });
  await limiter.ready();
  await limiter.schedule(async () => {});
  return async (action) => {
    await limiter.schedule(async () => action());
    return undefined;
  };
};

export const LIBRARIES = {
  fair: createFair,
  plain: createPlain,
  bottleneck: createBottleneck,
} as const satisfies Readonly<Record<string, CreateWait>>;

export type WaitingLibrary = keyof typeof LIBRARIES;
