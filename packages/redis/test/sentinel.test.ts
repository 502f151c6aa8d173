import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { RedisServer, until } from '@rollgate/test-support';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { Sentinel } from './support/sentinel.js';
import { type OpenBySentinel, sentinelClients } from './support/sentinel-clients.js';

const QUEUE = 'fair:{api}:default/q';
const untilQueued = (server: RedisServer, count: number) =>
  until(`${count} wait`, async () => Number(await server.run('ZCOUNT', QUEUE, '0', '+inf')) === count);

/** Lets callers of two stores wait behind an action, as those of two processes do. */
async function waitInOrder({ client, subscriber }: OpenBySentinel, master: RedisServer) {
  const waiting = fairWaiting({ subscriber, lease: '1m' });
  const limits = rollingWindow({ limit: 1, window: '1h' });
  const join = () =>
    new RateLimiter({ limits, store: new RedisStore({ client, waiting }), prefix: 'fair', timeout: '1m' });
  const limiters = [join(), join(), join()] as const;
  const held = await limiters[0].wait('api');
  const started: number[] = [];
  const waits: Promise<void>[] = [];
  for (const [index, limiter] of limiters.entries()) {
    const start = limiter.wait('api').then((decision) => {
      started.push(index);
      return limiter.refund(decision);
    });
    waits.push(start);
    await untilQueued(master, index + 1);
  }
  return { started, finish: () => Promise.all([limiters[0].refund(held), ...waits]) };
}

test.each(Object.keys(sentinelClients))('a limit and the callers that wait survive a failover: %s', async (kind) => {
  const master = await RedisServer.start({ args: ['--repl-diskless-sync-delay', '0'] });
  const replica = await RedisServer.start({ args: ['--replicaof', master.host, String(master.port)] });
  const sentinel = await Sentinel.start(master);
  const opened = await sentinelClients[kind]!(sentinel);
  const { client, close } = opened;
  try {
    const store = new RedisStore({ client });
    const limits = rollingWindow({ limit: 3, window: '1h' });
    const limiter = new RateLimiter({ limits, store, timeout: '1m' });
    const impatient = new RateLimiter({ limits, store, timeout: '5s' });
    expect(await limiter.check('ann', { cost: 2 })).toMatchObject({ allowed: true, remaining: 1 });
    const callers = await waitInOrder(opened, master);
    await untilQueued(replica, 3);
    await until('the replica has it', async () => {
      const mine = await replica.run('DUMP', 'rollgate:{ann}:default');
      return mine !== null && mine === (await master.run('DUMP', 'rollgate:{ann}:default'));
    });
    await master.kill();
    await withoutOutageWarnings(() =>
      until('the replica serves', () =>
        impatient.peek('ann').then(
          ({ remaining }) => remaining === 1,
          () => false,
        ),
      ),
    );
    expect((await replica.run('ROLE')) as string[]).toContain('master');
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.check('ann')).toMatchObject({ allowed: false });
    expect(await replica.run('PTTL', 'rollgate:{ann}:default')).toBeGreaterThan(3_500_000);
    await callers.finish();
    expect(callers.started).toEqual([0, 1, 2]);
    expect(await replica.run('ZCOUNT', QUEUE, '0', '+inf')).toBe(0);
  } finally {
    await close();
    await Promise.all([sentinel.stop(), replica.stop(), master.stop()]);
  }
});
