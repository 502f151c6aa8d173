import type { EventEmitter } from 'node:events';
import type { RedisClient } from '@rollgate/redis';
import { startRestFront } from '@rollgate/test-support/rest-front';
import { Redis as Upstash } from '@upstash/redis';
import { GlideClient, Logger } from '@valkey/valkey-glide';
import { Redis, type RedisOptions } from 'ioredis';
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
  (client as EventEmitter).on('error', () => {}); // As docs/redis.md says.
  return { client, close: () => client.disconnect() };
}

/** Opens a client of each kind. */
export const clients = {
  'ioredis 6': async (url: string) => fromIoredis(new Redis(url)),
  'ioredis 5': async (url: string) => fromIoredis(new Redis5(url)),
  'node-redis 6': async (url: string): Promise<OpenClient> => {
    const client = await createClient({ url })
      .on('error', () => {})
      .connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 5': async (url: string): Promise<OpenClient> => {
    const client = await createClient5({ url })
      .on('error', () => {})
      .connect();
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

/** Opens ioredis with an option that changes what becomes of commands when its connection breaks. */
const withOption = (options: Omit<RedisOptions, 'replyMapping'>) => async (url: string) =>
  fromIoredis(new Redis(url, options));

/** Opens a client with each of these options. */
export const clientsWithOptions = {
  'ioredis without an offline queue': withOption({ enableOfflineQueue: false }),
  'ioredis that connects when it is first used': withOption({ lazyConnect: true }),
  'ioredis that tries once': withOption({ maxRetriesPerRequest: 1 }),
  'ioredis that retries forever': withOption({ maxRetriesPerRequest: null }),
  'ioredis with a shorter timeout than the limiter': withOption({ commandTimeout: 900 }),
  'ioredis that does not check whether the server is ready': withOption({ enableReadyCheck: false }),
  'ioredis that sends nothing again': withOption({ autoResendUnfulfilledCommands: false }),
  'ioredis with auto-pipelining': withOption({ enableAutoPipelining: true }),
};
