import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { RedisServer, until } from '@rollgate/test-support';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { Sentinel } from './support/sentinel.js';

interface Opened {
  readonly client: RedisClient;
  close(): unknown;
}

const clients: Record<string, (sentinel: Sentinel) => Promise<Opened>> = {
  ioredis: async ({ host, port }) => {
    const client = new Redis({ sentinels: [{ host, port }], name: Sentinel.masterName });
    client.on('error', () => {}); // The master is killed.
    return { client, close: () => client.disconnect() };
  },
  'node-redis': async ({ host, port }) => {
    const client = createSentinel({
      name: Sentinel.masterName,
      sentinelRootNodes: [{ host, port }],
      scanInterval: 100,
      // It would keep trying the dead master for a while after the test.
      nodeClientOptions: {
        socket: { reconnectStrategy: (retries) => (retries < 3 ? 50 : new Error('The master has ended')) },
      },
    });
    client.on('error', () => {});
    await client.connect();
    return { client, close: () => client.close() };
  },
};

test.each(Object.keys(clients))('a limit survives a failover: %s', async (kind) => {
  const master = await RedisServer.start({ args: ['--repl-diskless-sync-delay', '0'] });
  const replica = await RedisServer.start({ args: ['--replicaof', master.host, String(master.port)] });
  const sentinel = await Sentinel.start(master);
  const { client, close } = await clients[kind]!(sentinel);
  try {
    const store = new RedisStore({ client });
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 3, window: '1h' }), store, timeout: '5s' });
    expect(await limiter.check('ann', { cost: 2 })).toMatchObject({ allowed: true, remaining: 1 });
    await until('the replica has it', async () => {
      const mine = await replica.run('DUMP', 'rollgate:{ann}:default');
      return mine !== null && mine === (await master.run('DUMP', 'rollgate:{ann}:default'));
    });
    await master.kill();
    await withoutOutageWarnings(() =>
      until('the replica serves', () =>
        limiter.peek('ann').then(
          ({ remaining }) => remaining === 1,
          () => false,
        ),
      ),
    );
    expect((await replica.run('ROLE')) as string[]).toContain('master');
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.check('ann')).toMatchObject({ allowed: false });
    expect(await replica.run('PTTL', 'rollgate:{ann}:default')).toBeGreaterThan(3_500_000);
  } finally {
    await close();
    await Promise.all([sentinel.stop(), replica.stop(), master.stop()]);
  }
});
