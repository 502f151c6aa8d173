import type { EventEmitter } from 'node:events';
import type { RedisClient } from '@rollgate/redis';
import { startRestFront } from '@rollgate/test-support/rest-front';
import { Redis as Upstash } from '@upstash/redis';
import { GlideClient, type GlideClientConfiguration, Logger } from '@valkey/valkey-glide';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis5';

Logger.setLoggerConfig('off'); // It logs each script that the server does not have.

/** A client and a function that closes it. */
export interface OpenClient {
  readonly client: RedisClient;
  close(): unknown;
}

/** GLIDE's timeout, which is 250 ms by default, is too short for a busy machine. */
export const LONG_TIMEOUT = { requestTimeout: 30_000 };

/** A client of ioredis or iovalkey, for one server or for a Cluster. */
export function fromIoredis(client: RedisClient & EventEmitter & { disconnect(): void }): OpenClient {
  client.on('error', () => {}); // As docs/redis.md says.
  return { client, close: () => client.disconnect() };
}

interface NodeRedis {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** A client of node-redis, once it is connected. */
export async function fromNodeRedis(client: NodeRedis): Promise<OpenClient> {
  client.on('error', () => {});
  await client.connect();
  return { client: client as unknown as RedisClient, close: () => client.destroy() };
}

/** Opens a client of Valkey GLIDE. */
export async function openGlide(
  url: string,
  options: Omit<GlideClientConfiguration, 'addresses'> = {},
): Promise<OpenClient> {
  const { hostname: host, port } = new URL(url);
  const addresses = [{ host, port: Number(port) }];
  const client = await GlideClient.createClient({ addresses, ...LONG_TIMEOUT, ...options });
  return { client, close: () => client.close() };
}

/** Opens a client of Upstash, and its HTTP server in front of Redis. */
export async function openUpstash(url: string, options: object = {}): Promise<OpenClient> {
  const front = await startRestFront(url);
  return { client: new Upstash({ url: front.url, token: front.token, ...options }), close: () => front.stop() };
}

/** Opens a client of each kind. */
export const clients = {
  'ioredis 6': async (url: string) => fromIoredis(new Redis(url)),
  'ioredis 5': async (url: string) => fromIoredis(new Redis5(url)),
  'node-redis 6': (url: string) => fromNodeRedis(createClient({ url })),
  'node-redis 5': (url: string) => fromNodeRedis(createClient5({ url })),
  iovalkey: async (url: string) => fromIoredis(new Valkey(url)),
  'Valkey GLIDE': (url: string) => openGlide(url),
  '@upstash/redis': (url: string) => openUpstash(url),
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
