import { once } from 'node:events';
import { type Decision, fixedWindow, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore } from '@rollgate/redis';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Redis } from 'ioredis';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const LIMITS = [
  ['packed log', rollingWindow({ limit: 50, window: '1h' }), 'packed'],
  ['sorted set', rollingWindow({ limit: 50, window: '1h' }), 'sorted-set'],
  ['fixed window', fixedWindow({ limit: 50, window: '1000d' }), 'packed'],
  ['token bucket', tokenBucket({ capacity: 50, refill: 1, every: '1h' }), 'packed'],
] as const;

type Operate = (limiter: RateLimiter, decision: Decision) => Promise<unknown>;

/** Each operation with the units that are left of 50 after checks of 2, 10 and 3, and the operation on the second one. */
const OPERATIONS: [name: string, remaining: number, operate: Operate][] = [
  ['refund', 45, (limiter, decision) => limiter.refund(decision)],
  ['settlement to a lower cost', 39, (limiter, decision) => limiter.settle(decision, { cost: 6 })],
  ['settlement to a higher cost', 31, (limiter, decision) => limiter.settle(decision, { cost: 14 })],
  ['credit', 41, (limiter) => credit(limiter, 'ann', 6)],
  ['charge', 28, (limiter) => limiter.charge('ann', { cost: 7 })],
];

const CASES = OPERATIONS.flatMap(([name, remaining, operate], operation) =>
  LIMITS.map(([limitName, limits, log]) => ({ name, limitName, remaining, operate, limits, log })).filter(
    (_, limit) => operation < 2 || limit < effort(1, LIMITS.length), // A lower cost is what may admit too much.
  ),
);

const LOWER_COST = CASES.find(({ name, limitName }) => name.includes('lower cost') && limitName === 'fixed window')!;

/** How often a script has been run. */
async function scriptsRun(): Promise<number> {
  const info = (await server.run('INFO', 'commandstats')) as string;
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
}

// After a broken connection, ioredis resends commands without a reply, even if Redis executed them.
test.each(CASES)('a $name that is sent twice runs once: $limitName', (one) => expectOneRun(one, 0));

test('a settlement that is sent twice runs once on a full server', () => expectOneRun(LOWER_COST, 1));

/** Loses the reply to an operation on a server with this `maxmemory`, so that the client sends it again. */
async function expectOneRun({ limits, log, operate, remaining }: (typeof CASES)[number], maxMemory: number) {
  await server.run('FLUSHALL');
  const proxy = await FaultyProxy.start(server.port);
  const client = new Redis(proxy.port);
  try {
    await once(client, 'ready');
    const store = new RedisStore({ client, log, denialCache: false });
    const limiter = new RateLimiter({ limits, store, timeout: '30s' });
    // In one batch, so that they are sent together.
    const decisions = await Promise.all([2, 10, 3].map((cost) => limiter.check('ann', { cost })));
    await limiter.refund(await limiter.check('bob')); // Now the server has the script.
    await server.run('CONFIG', 'SET', 'maxmemory', maxMemory);
    const before = await scriptsRun();
    proxy.dropReplies();
    const done = operate(limiter, decisions[1]!);
    await until('it is done', async () => (await scriptsRun()) === before + 1);
    proxy.cut();
    await done;
    expect(await scriptsRun()).toBe(before + 2);
    expect((await limiter.peek('ann')).remaining).toBe(remaining);
  } finally {
    await server.run('CONFIG', 'SET', 'maxmemory', 0);
    client.disconnect();
    await proxy.stop();
  }
}
