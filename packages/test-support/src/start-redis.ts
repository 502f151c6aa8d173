import { RedisServer } from './redis-server.js';

/**
 * For tests that only need some server: the one of `REDIS_URL`, or else a private one. It may be shared: use keys that
 * nobody else has, and never flush it.
 */
export async function startRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const url = process.env.REDIS_URL;
  return url === undefined || url === '' ? RedisServer.start() : { url, stop: async () => {} };
}
