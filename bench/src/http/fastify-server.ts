import type { Server } from 'node:http';
import fastifyRateLimit from '@fastify/rate-limit';
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import rateLimit from '@rollgate/fastify';
import { RedisStore } from '@rollgate/redis';
import Fastify, { type FastifyInstance } from 'fastify';
import { Redis } from 'ioredis';
import { type AnyLimiterName, BODY, constantHeaders, HOUR_MS, toHeaders } from './subjects.js';

export async function startFastify(limiter: AnyLimiterName, limit: number, redisUrl: string): Promise<Server> {
  const app = Fastify();
  if (limiter !== 'none') await ADD_LIMITER[limiter](app, limit, redisUrl);
  app.get('/', async () => BODY);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

type AddLimiter = (app: FastifyInstance, limit: number, redisUrl: string) => unknown;

const ADD_LIMITER: Record<Exclude<AnyLimiterName, 'none'>, AddLimiter> = {
  headers(app, limit) {
    const headers = constantHeaders(limit, 0);
    app.addHook('onRequest', (_request, reply, done) => {
      for (const [name, value] of headers) reply.header(name, value);
      done();
    });
  },

  'by hand'(app, limit) {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: HOUR_MS }) });
    app.addHook('onRequest', (request, reply, done) => {
      const decision = limiter.decide(request.ip) as Decision;
      for (const [name, value] of toHeaders(decision, 0)) reply.header(name, value);
      done();
    });
  },

  rollgate: (app, limit) => app.register(rateLimit, { limit, window: HOUR_MS }),

  alternative: (app, limit) => app.register(fastifyRateLimit, { max: limit, timeWindow: HOUR_MS }),

  'rollgate on Redis'(app, limit, redisUrl) {
    const store = new RedisStore({ client: new Redis(redisUrl) });
    return app.register(rateLimit, { limit, window: HOUR_MS, store });
  },

  'alternative on Redis': (app, limit, redisUrl) =>
    app.register(fastifyRateLimit, { max: limit, timeWindow: HOUR_MS, redis: new Redis(redisUrl) }),
};
