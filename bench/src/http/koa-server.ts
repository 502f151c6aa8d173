import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { rateLimit } from '@rollgate/koa';
import Koa from 'koa';
import ratelimit from 'koa-ratelimit';
import { BODY, HOUR_MS, type LimiterName } from './subjects.js';

export async function startKoa(limiter: LimiterName, limit: number): Promise<Server> {
  const app = new Koa();
  if (limiter === 'rollgate') app.use(rateLimit({ limit, window: HOUR_MS }));
  if (limiter === 'alternative') app.use(ratelimit({ driver: 'memory', db: new Map(), duration: HOUR_MS, max: limit }));
  app.use((ctx) => {
    ctx.body = BODY;
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
