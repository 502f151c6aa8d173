import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { nodeAddress, rateLimit } from '@rollgate/hono';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { BODY, HOUR_MS, type LimiterName } from './subjects.js';

export async function startHono(limiter: LimiterName, limit: number): Promise<Server> {
  const app = new Hono();
  if (limiter === 'rollgate') app.use(rateLimit({ limit, window: HOUR_MS, address: nodeAddress }));
  if (limiter === 'alternative') {
    const keyGenerator = (c: Context) => nodeAddress(c)!;
    app.use(rateLimiter({ windowMs: HOUR_MS, limit, keyGenerator }) as MiddlewareHandler);
  }
  app.get('/', (c) => c.json(BODY));
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}
