import { RedisServer } from './redis-server.js';

/**
 * Returns the server of `REDIS_URL`, or else starts a private one. The server may be shared, so use unique keys and never
 * flush it.
 */
export async function startRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const url = process.env.REDIS_URL;
  return url === undefined || url === '' ? RedisServer.start() : { url, stop: async () => {} };
}
