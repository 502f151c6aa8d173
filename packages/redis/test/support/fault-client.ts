import type { EventEmitter } from 'node:events';
import type { RedisClient } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis5';

/** A client as an app creates it, with its defaults, which reconnects forever. */
export interface AppClient {
  readonly kind: string;
  readonly client: RedisClient;
  /** Closes the client without notice to the server. May be called twice. */
  end(): unknown;
}

export type ClientKind = 'ioredis 6' | 'ioredis 5' | 'node-redis 6' | 'node-redis 5';

type Opened = Omit<AppClient, 'kind'>;

const OPEN: Readonly<Record<ClientKind, (url: string) => Opened>> = {
  'ioredis 6': (url) => fromIoredis(new Redis(url)),
  'ioredis 5': (url) => fromIoredis(new Redis5(url)),
  'node-redis 6': (url) => fromNodeRedis(createClient({ url })),
  'node-redis 5': (url) => fromNodeRedis(createClient5({ url })),
};

export function openClient(kind: ClientKind, port: number, password = ''): AppClient {
  return { kind, ...OPEN[kind](`redis://${password === '' ? '' : `:${password}@`}127.0.0.1:${port}`) };
}

/** Returns the number of a client's listeners, by event. */
export function listenersOf({ client }: AppClient): Record<string, number> {
  const emitter = client as unknown as Partial<Pick<EventEmitter, 'eventNames'>> & EventEmitter;
  return Object.fromEntries(
    (emitter.eventNames?.() ?? []).map((event) => [String(event), emitter.listenerCount(event)]),
  );
}

function fromIoredis(client: Redis | Redis5): Opened {
  client.on('error', () => {}); // Otherwise the error is written to the console.
  return { client, end: () => client.disconnect() };
}

function fromNodeRedis(client: ReturnType<typeof createClient> | ReturnType<typeof createClient5>): Opened {
  client.on('error', () => {}); // Otherwise the error ends the process.
  client.connect().catch(() => {}); // It retries, or the test has closed it.
  return { client: client as RedisClient, end: () => client.isOpen && client.destroy() };
}
