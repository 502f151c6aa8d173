import type { RedisClient } from '@rollgate/redis';
import type { FairWaitingOptions } from '@rollgate/redis/waiting';
import { Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { Sentinel } from './sentinel.js';

/** A client that finds the master by a Sentinel, another one for `fairWaiting`, and a function that closes both. */
export interface OpenBySentinel {
  readonly client: RedisClient;
  readonly subscriber: FairWaitingOptions['subscriber'];
  close(): unknown;
}

/** Opens a client of each kind. */
export const sentinelClients: Record<string, (sentinel: Sentinel) => Promise<OpenBySentinel>> = {
  ioredis: async ({ host, port }) => {
    const client = new Redis({ sentinels: [{ host, port }], name: Sentinel.masterName });
    const subscriber = client.duplicate();
    for (const connection of [client, subscriber]) connection.on('error', () => {}); // The master is killed.
    return { client, subscriber, close: () => [client, subscriber].map((connection) => connection.disconnect()) };
  },
  'node-redis': async ({ host, port }) => {
    const open = async () => {
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
      return client;
    };
    const [client, subscriber] = await Promise.all([open(), open()]);
    return { client, subscriber, close: () => Promise.all([client.close(), subscriber.close()]) };
  },
};
