import { setTimeout as lasting } from 'node:timers/promises';
import { type OnStoreError, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { type AppClient, type ClientKind, openClient } from './support/fault-client.js';
import { Load } from './support/fault-load.js';
import { ReplyDroppingProxy } from './support/reply-dropping-proxy.js';

silenceOutages();

const LIMIT = 50;

interface Options {
  readonly kind?: ClientKind;
  readonly onStoreError?: OnStoreError;
  readonly timeout?: number;
  readonly limit?: number;
}

/** A server with a proxy, and what uses them. */
class Setup {
  readonly #clients: AppClient[] = [];
  #load: Load | undefined;

  private constructor(
    readonly server: RedisServer,
    readonly proxy: FaultyProxy,
  ) {}

  static async start(): Promise<Setup> {
    const server = await RedisServer.start();
    return new Setup(server, await FaultyProxy.start(server.port));
  }

  /** Creates a limiter with a separate client. */
  readonly make = (
    port: number,
    { kind = 'ioredis 6', onStoreError = 'throw', timeout = 200, limit = LIMIT }: Options = {},
  ) => {
    const client = openClient(kind, port);
    this.#clients.push(client);
    const limits = rollingWindow({ limit, window: '1h' });
    return new RateLimiter({ limits, store: new RedisStore({ client: client.client }), timeout, onStoreError });
  };

  /** Twenty callers that check the same key all the time. */
  readonly hammer = (port: number, options: Options): Load => {
    this.#load = new Load(this.make(port, options), 20, () => 'ann');
    return this.#load;
  };

  async stop(): Promise<void> {
    await this.#load?.stop();
    for (const client of this.#clients) client.end();
    await this.proxy.stop();
    await this.server.stop();
  }
}

/** A test with a server of its own. These tests run at the same time, because they mostly wait. */
function testFault(name: string, run: (setup: Setup) => Promise<void>): void {
  test.concurrent(name, async () => {
    const setup = await Setup.start();
    await run(setup).finally(() => setup.stop());
  });
}

const untilRedisAllows = (load: Load, count: number) =>
  until(`Redis allowed ${count}`, async () => load.admitted.byRedis >= count);
/** Resolves to the number that Redis allowed before its limit was full. On a busy machine, the policy may decide some calls earlier. */
async function untilRedisIsFull(load: Load): Promise<number> {
  await until('Redis rejects a call', async () =>
    load.outcomes.some(({ decision }) => decision?.degraded === false && !decision.allowed),
  );
  return load.admitted.byRedis;
}
const untilPolicyAllows = (load: Load, count: number) =>
  until(`the policy allowed ${count}`, async () => load.admitted.byPolicy >= count);
const failing = async (load: Load) => {
  const { failedCount: failed } = load;
  await until('calls fail', async () => load.failedCount >= failed + 100);
};
const served = async (load: Load) => {
  const { length } = load.outcomes;
  await until(
    'calls are served',
    async () => Math.min(load.consecutiveServedCount, load.outcomes.length - length) >= 100,
  );
};

describe.each<ClientKind>(['ioredis 6', 'node-redis 6'])('never allows too much with %s', (kind) => {
  testFault(
    'when a server is killed: at most the hits that it lost and those of the fallback',
    async ({ server, hammer }) => {
      const load = hammer(server.port, { kind, onStoreError: 'fallback' });
      const before = await untilRedisIsFull(load);
      await server.kill();
      await untilPolicyAllows(load, LIMIT);
      await lasting(300);
      await server.restart();
      await untilRedisAllows(load, before + 1);
      await served(load);
      await load.stop();
      expect(load.admitted.byRedis).toBeLessThanOrEqual(2 * LIMIT);
      expect(load.admitted.byPolicy).toBe(LIMIT);
    },
  );

  testFault('when a server pauses, which loses nothing', async ({ server, hammer }) => {
    const load = hammer(server.port, { kind, onStoreError: 'fallback' });
    const before = await untilRedisIsFull(load);
    for (let outage = 0; outage < 2; outage++) {
      server.pause();
      await failing(load);
      server.resume();
      await served(load);
    }
    await load.stop();
    expect(before).toBeLessThanOrEqual(LIMIT);
    expect(load.admitted).toEqual({ byRedis: before, byPolicy: LIMIT });
  });

  testFault('when a server is killed repeatedly', async ({ server, hammer }) => {
    const load = hammer(server.port, { kind, onStoreError: 'fallback' });
    await untilRedisIsFull(load);
    for (let kill = 1; kill <= 3; kill++) {
      await server.kill();
      await lasting(100 * kill);
      await server.restart();
      await served(load);
    }
    await load.stop();
    expect(load.admitted.byRedis).toBeLessThanOrEqual(4 * LIMIT);
    expect(load.admitted.byPolicy).toBeLessThanOrEqual(LIMIT);
  });

  testFault('when connections are cut and scripts flushed all the time', async ({ server, proxy, hammer }) => {
    const limit = 500;
    const load = hammer(proxy.port, { kind, limit });
    await untilRedisAllows(load, 1);
    while (load.outcomes.at(-1)?.decision?.allowed !== false) {
      await server.run('SCRIPT', 'FLUSH');
      proxy.cut();
      const { length } = load.outcomes;
      await until('calls are settled', async () => load.outcomes.length > length + 40);
    }
    await load.stop();
    // Hits that were recorded twice or without a result count, so the limiter never allows too many.
    expect(load.admitted.byRedis).toBeLessThanOrEqual(limit);
  });

  testFault('when every reply is late', async ({ server, proxy, make, hammer }) => {
    proxy.delay(150);
    const load = hammer(proxy.port, { kind, onStoreError: 'fallback' });
    await untilPolicyAllows(load, LIMIT);
    proxy.delay(0);
    await served(load);
    await load.stop();
    expect(load.admitted.byRedis).toBeLessThan(LIMIT);
    expect(load.admitted.byPolicy).toBe(LIMIT);
    expect((await make(server.port, { timeout: 10_000 }).peek('ann')).remaining).toBe(0);
  });
});

describe('a hit that was recorded before', () => {
  testFault('a restart cannot refund a hit recorded after it', async ({ server, make }) => {
    const limiter = make(server.port, { timeout: 10_000 });
    const before = await limiter.check('ann', { cost: LIMIT });
    await server.restart();
    await limiter.check('ann', { cost: LIMIT });
    await limiter.refund(before);
    expect(await limiter.peek('ann')).toMatchObject({ allowed: false, remaining: 0 });
  });

  // ioredis resends commands without a reply.
  testFault('a refund that is sent twice counts once', async ({ server, make }) => {
    const proxy = await ReplyDroppingProxy.start(server.port);
    const limiter = make(proxy.port, { timeout: 10_000 });
    const observer = make(server.port, { timeout: 10_000 });
    const decisions = await Promise.all([limiter.check('ann'), limiter.check('ann')]);
    await limiter.refund(await limiter.check('bob')); // From now on, Redis has the script.
    proxy.dropReplies();
    const refunded = limiter.refund(decisions[0]!);
    await until('the refund has arrived', async () => (await observer.peek('ann')).remaining === LIMIT - 1);
    proxy.closeConnections();
    await refunded;
    proxy.stop();
    expect((await observer.peek('ann')).remaining).toBe(LIMIT - 1);
  });
});
