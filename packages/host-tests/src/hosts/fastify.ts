import type { Server } from 'node:http';
import rateLimit, { settle } from '@rollgate/fastify';
import Fastify, { type FastifyRequest } from 'fastify';
import { respond, startResponse } from '../node-handler.js';
import { control, createScenarios, type Limiters, toBehavior, toBody, toSettled, toStatus } from '../scenarios.js';

export async function createFastify(): Promise<Server> {
  const app = Fastify();
  const limiters: Limiters = {};
  const scenarios = createScenarios<FastifyRequest>((request, name) => request.headers[name] as string | undefined);
  for (const [name, options] of Object.entries(scenarios)) {
    await app.register(async (scope) => {
      if (name === 'started')
        scope.addHook('onRequest', async (request, reply) => startResponse(request.raw, reply.raw));
      await scope.register(rateLimit, options as never);
      limiters[name] = scope.rateLimiter as never;
      scope.addHook('preHandler', async (request) => {
        const settled = toSettled(toBehavior(request.headers['x-behavior'] as string | undefined));
        if (settled !== undefined) await settle(request, settled);
      });
      scope.all(`/${name}`, (request, reply) => {
        const behavior = toBehavior(request.headers['x-behavior'] as string | undefined);
        const isStarted = reply.raw.headersSent;
        if (!isStarted && behavior !== 'throw' && behavior !== 'stream' && behavior !== 'endless') {
          return reply.code(toStatus(behavior)).type('text/plain').send(toBody(behavior));
        }
        if (behavior !== 'throw') reply.hijack();
        if (behavior !== 'throw' && !isStarted) {
          for (const [header, value] of Object.entries(reply.getHeaders()))
            reply.raw.setHeader(header, value as string);
        }
        respond(behavior, reply.raw);
        return reply;
      });
    });
  }
  app.get('/control/*', (request) => control(request.url, limiters));
  await app.ready();
  return app.server;
}
