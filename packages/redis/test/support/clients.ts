import type { RedisClient } from '@rollgate/redis';
import { startRestFront } from '@rollgate/test-support/rest-front';
import { Redis as Upstash } from '@upstash/redis';
import { GlideClient, Logger } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis5';

Logger.setLoggerConfig('off'); // It logs each script that the server does not have.

/** A connected client and a function that closes it. */
export interface OpenClient {
  readonly client: RedisClient;
  close(): void;
}

/** GLIDE's timeout, which is 250 ms by default, is too short for a busy machine. */
export const LONG_TIMEOUT = { requestTimeout: 30_000 };

function fromIoredis(client: Redis | Redis5 | Valkey): OpenClient {
  return { client, close: () => client.disconnect() };
}

/** Opens a client of each kind. */
export const clients = {
  'ioredis 6': async (url: string) => fromIoredis(new Redis(url)),
  'ioredis 5': async (url: string) => fromIoredis(new Redis5(url)),
  'node-redis 6': async (url: string): Promise<OpenClient> => {
    const client = await createClient({ url }).connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 5': async (url: string): Promise<OpenClient> => {
    const client = await createClient5({ url }).connect();
    return { client, close: () => client.destroy() };
  },
  iovalkey: async (url: string) => fromIoredis(new Valkey(url)),
  'Valkey GLIDE': async (url: string): Promise<OpenClient> => {
    const { hostname: host, port } = new URL(url);
    const client = await GlideClient.createClient({ addresses: [{ host, port: Number(port) }], ...LONG_TIMEOUT });
    return { client, close: () => client.close() };
  },
  '@upstash/redis': async (url: string): Promise<OpenClient> => {
    const front = await startRestFront(url);
    return { client: new Upstash({ url: front.url, token: front.token }), close: () => void front.stop() };
  },
};
