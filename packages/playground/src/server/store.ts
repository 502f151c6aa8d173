import { MemoryStore, type Store } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

/** Where the state of the limits is. */
export interface Backend {
  /** The name in the server's greeting. */
  readonly name: string;
  readonly store: Store;
  close(): void;
}

export const createMemory = (): Backend => ({ name: 'in memory', store: new MemoryStore(), close() {} });

/** How long Redis may take at the start and for each check. */
const TIMEOUT_MS = 3000;

/**
 * Connects to Redis.
 *
 * @throws TypeError if `url` is not a URL of Redis.
 * @throws Error with advice if Redis does not respond.
 */
export async function connectRedis(url: string): Promise<Backend> {
  if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError(`Expected \`REDIS_URL\` to be a URL such as redis://localhost:6379, got "${url}" (string)`);
  }
  const name = `on the Redis of ${new URL(url).host}`; // Not the whole URL, which may contain a password.
  const client = new Redis(url, {
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * times, 500),
  });
  let lastError: unknown;
  client.on('error', (error) => {
    lastError = error; // The calls fail, but their errors do not contain the cause.
  });
  try {
    await client.set('rollgate-playground:started', '1', 'EX', 1);
  } catch (cause) {
    client.disconnect();
    throw new Error(`Could not start ${name}. ${describeFailure(cause, lastError)}`, { cause });
  }
  return { name, store: new RedisStore({ client }), close: () => client.disconnect() };
}

/** What to do about a failure of Redis, by the code of the socket's error or by the text of Redis's reply. */
const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/ECONNREFUSED/, 'Nothing listens there. Start Redis, or correct the host and port in `REDIS_URL`.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The host is unknown. Correct it in `REDIS_URL`.'],
  [/NOAUTH|WRONGPASS/, 'Redis requires another user name or password. Correct them in `REDIS_URL`.'],
  [/NOPERM/, 'The Redis user lacks permissions. It needs all commands on keys that start with `rollgate-playground`.'],
  [/DB index/, 'Redis has no such database. Correct its number in `REDIS_URL`.'],
  [/LOADING/, 'Redis is still loading its data. Try again later.'],
  [/Protocol error|ERR_SSL|EPROTO/, 'The server there does not speak this protocol. Correct `REDIS_URL`.'],
];

/** Describes why Redis could not be used, in the playground's words instead of the client's. */
export function describeFailure(...errors: readonly unknown[]): string {
  const text = errors.map((error) => `${(error as NodeJS.ErrnoException | undefined)?.code} ${error}`).join(' ');
  const found = ADVICE.find(([pattern]) => pattern.test(text));
  return found?.[1] ?? 'Redis did not respond as expected within 3 s. Check that `REDIS_URL` leads to a running Redis.';
}
