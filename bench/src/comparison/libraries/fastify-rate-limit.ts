import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Library, Limiter, Rule } from '../library.js';
import { toOutcome } from '../responses.js';

export const fastifyRateLimit: Library = {
  keyBound: 5000,

  inMemory: async (rule) => toLimiter(await createApp([rule])),

  combined: async (first, second) => toLimiter(await createApp([first, second])),

  inRedis: async (rule, redis) => toLimiter(await createApp([rule], { redis: redis.connect() })),

  async serve(rule) {
    const app = await createApp([rule]);
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },
};

async function createApp(rules: readonly Rule[], options: object = {}): Promise<FastifyInstance> {
  const app = Fastify({ trustProxy: 'loopback' });
  for (const { limit, windowMs } of rules) {
    await app.register(rateLimit, { max: limit, timeWindow: windowMs, ...options });
  }
  app.get('/', async () => 'hello');
  return app;
}

/** Sends each request from the address `key`, without a socket. */
function toLimiter(app: FastifyInstance): Limiter {
  return {
    async check(key) {
      const { statusCode, headers } = await app.inject({ url: '/', remoteAddress: key });
      return toOutcome(statusCode, headers['retry-after']?.toString());
    },
  };
}
