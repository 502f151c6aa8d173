import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { fairWaiting, type SubscriberClient } from '@rollgate/redis/waiting';
import { RedisCluster } from '@rollgate/test-support';
import { Cluster } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { clients } from './support/clients.js';
import { expectOrder } from './support/lateness.js';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();
let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

interface Connections {
  readonly client: RedisClient;
  readonly subscriber?: SubscriberClient;
  close(): void;
}

const kinds: Record<string, () => Promise<Connections>> = {
  'node-redis': async () => {
    const [client, subscriber] = await Promise.all(
      [createClient({ url: redis.server.url }), createClient({ url: redis.server.url })].map((one) => one.connect()),
    );
    return { client: client!, subscriber: subscriber!, close: () => [client, subscriber].map((one) => one!.destroy()) };
  },
  'a Cluster of ioredis': async () => {
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
    const [client, subscriber] = [new Cluster(nodes), new Cluster(nodes)];
    return { client, subscriber, close: () => [client, subscriber].map((one) => one.disconnect()) };
  },
  'a cluster of node-redis': async () => {
    const rootNodes = cluster.nodes.map(({ url }) => ({ url }));
    const [client, subscriber] = [createCluster({ rootNodes }), createCluster({ rootNodes })];
    await Promise.all([client.connect(), subscriber.connect()]);
    return { client, subscriber, close: () => [client, subscriber].map((one) => one.destroy()) };
  },
  'Valkey GLIDE, without messages': () => clients['Valkey GLIDE'](redis.server.url),
  '@upstash/redis, without messages': () => clients['@upstash/redis'](redis.server.url),
};

test.each(Object.keys(kinds))('%s: the callers of two stores start in order', async (kind) => {
  const prefix = freshPrefix();
  const limits = rollingWindow({ limit: 1, window: '100ms' });
  const opened = await Promise.all([kinds[kind]!(), kinds[kind]!()]);
  try {
    const limiters = opened.map(({ client, subscriber }) => {
      const waiting = fairWaiting({ subscriber, lease: '2s' });
      return new RateLimiter({ limits, prefix, timeout: '30s', store: new RedisStore({ client, waiting }) });
    });
    for (const limiter of limiters) await limiter.wait('warm', { timeout: '30s' });
    const startAll = async () => {
      const started: number[] = [];
      const waits: Promise<unknown>[] = [];
      for (let index = 0; index < 5; index++) {
        const wait = limiters[index % 2]!.wait('api', { timeout: '60s' });
        waits.push(wait.then(() => started.push(index)));
        await limiters[index % 2]!.peek('api'); // Its reply comes after the caller has its place.
      }
      await Promise.all(waits);
      return started;
    };
    await expectOrder(redis.connect(), startAll, [0, 1, 2, 3, 4]);
  } finally {
    for (const { close } of opened) close();
  }
});
