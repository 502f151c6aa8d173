import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import express, { type RequestHandler } from 'express';
import { rateLimit as expressRateLimit } from 'express-rate-limit';
import { Redis } from 'ioredis';
import { RedisStore as RateLimitRedis, type RedisReply } from 'rate-limit-redis';
import { type AnyLimiterName, BODY, constantHeaders, HOUR_MS, toHeaders } from './subjects.js';

export async function startExpress(limiter: AnyLimiterName, limit: number, redisUrl: string): Promise<Server> {
  const app = express();
  if (limiter !== 'none') app.use(MIDDLEWARE[limiter](limit, redisUrl));
  app.get('/', (_request, response) => {
    response.json(BODY);
  });
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const MIDDLEWARE: Record<Exclude<AnyLimiterName, 'none'>, (limit: number, redisUrl: string) => RequestHandler> = {
  headers(limit) {
    const headers = constantHeaders(limit, Date.now());
    return (_request, response, next) => {
      for (const [name, value] of headers) response.setHeader(name, value);
      next();
    };
  },

  'by hand'(limit) {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: HOUR_MS }) });
    return (request, response, next) => {
      const decision = limiter.decide(request.ip!) as Decision;
      for (const [name, value] of toHeaders(decision, Date.now())) response.setHeader(name, value);
      next();
    };
  },

  rollgate: (limit) => rateLimit({ limit, window: HOUR_MS }),

  alternative: (limit) => expressRateLimit({ limit, windowMs: HOUR_MS }),

  'rollgate on Redis': (limit, redisUrl) =>
    rateLimit({ limit, window: HOUR_MS, store: new RedisStore({ client: new Redis(redisUrl) }) }),

  'alternative on Redis'(limit, redisUrl) {
    const client = new Redis(redisUrl);
    const sendCommand = (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>;
    return expressRateLimit({ limit, windowMs: HOUR_MS, store: new RateLimitRedis({ sendCommand }) });
  },
};
