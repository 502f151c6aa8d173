import type { Server } from 'node:http';
import fastifyRateLimit from '@fastify/rate-limit';
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import rateLimit from '@rollgate/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { BODY, constantHeaders, HOUR_MS, type LimiterName, toHeaders } from './subjects.js';

/** Starts a server with one route. */
export async function startFastify(limiter: LimiterName, limit: number): Promise<Server> {
  const app = Fastify();
  if (limiter !== 'none') await ADD_LIMITER[limiter](app, limit);
  app.get('/', async () => BODY);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

const ADD_LIMITER: Record<Exclude<LimiterName, 'none'>, (app: FastifyInstance, limit: number) => unknown> = {
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
};
