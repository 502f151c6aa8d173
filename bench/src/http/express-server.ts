import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';
import express, { type RequestHandler } from 'express';
import { rateLimit as expressRateLimit } from 'express-rate-limit';
import { BODY, constantHeaders, HOUR_MS, type LimiterName, toHeaders } from './subjects.js';

/** Starts a server with one route. */
export async function startExpress(limiter: LimiterName, limit: number): Promise<Server> {
  const app = express();
  if (limiter !== 'none') app.use(MIDDLEWARE[limiter](limit));
  app.get('/', (_request, response) => {
    response.json(BODY);
  });
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const MIDDLEWARE: Record<Exclude<LimiterName, 'none'>, (limit: number) => RequestHandler> = {
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
};
