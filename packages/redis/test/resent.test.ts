import { once } from 'node:events';
import { fixedWindow, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';
import { Redis } from 'ioredis';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** How often a script has been run. */
async function scriptsRun(): Promise<number> {
  const info = (await server.run('INFO', 'commandstats')) as string;
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
}

// After a broken connection, ioredis resends commands without a reply, even if Redis executed them.
test.each([
  ['packed log', rollingWindow({ limit: 5, window: '1h' }), 'packed'],
  ['sorted set', rollingWindow({ limit: 5, window: '1h' }), 'sorted-set'],
  ['fixed window', fixedWindow({ limit: 5, window: '1000d' }), 'packed'],
  ['token bucket', tokenBucket({ capacity: 5, refill: 1, every: '1h' }), 'packed'],
] as const)('a refund that is sent twice refunds only its own hit: %s', async (name, limits, log) => {
  const proxy = await FaultyProxy.start(server.port);
  const client = new Redis(proxy.port);
  try {
    await once(client, 'ready');
    const limiter = new RateLimiter({
      limits,
      store: new RedisStore({ client, log, denialCache: false }),
      prefix: name,
      timeout: '30s',
    });
    // In one turn, so that they are sent together.
    const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.check('ann')));
    await limiter.refund(await limiter.check('bob')); // The server now knows the script that refunds.
    const before = await scriptsRun();
    proxy.delay(200); // Each way, so Redis has executed it without a reply when the connection breaks.
    const refunded = limiter.refund(decisions[2]!);
    await until('it is done', async () => (await scriptsRun()) === before + 1);
    proxy.delay(0);
    proxy.cut();
    await refunded;
    expect(await scriptsRun()).toBe(before + 2);
    expect((await limiter.peek('ann')).remaining).toBe(1);
  } finally {
    client.disconnect();
    await proxy.stop();
  }
});
