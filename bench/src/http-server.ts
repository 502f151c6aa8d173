import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastifyRateLimit from '@fastify/rate-limit';
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { rateLimit as rollgateForExpress } from '@rollgate/express';
import rollgateForFastify from '@rollgate/fastify';
import express from 'express';
import { rateLimit as expressRateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { handleTasks } from './worker.js';

export type Framework = 'express' | 'fastify';
/** `by hand` is the same limiter behind a few handwritten lines without options. */
export type Limiter = 'none' | 'rollgate' | 'by hand' | 'alternative';

const [framework, limiter, limitText] = process.argv.slice(2) as [Framework, Limiter, string];
const limit = Number(limitText);
const HOUR_MS = 3_600_000;
const BODY = { hello: 'world' };
const limiterByHand = new RateLimiter({ limits: rollingWindow({ limit, window: HOUR_MS }) });

const server = framework === 'express' ? await startExpress() : await startFastify();
const { port } = server.address() as AddressInfo;

/** The port, and this process's processor time so far. */
handleTasks(() => {
  const { user, system } = process.cpuUsage();
  return { port, cpuMicros: user + system };
});

export interface ServerResult {
  readonly port: number;
  readonly cpuMicros: number;
}

async function startExpress(): Promise<Server> {
  const app = express();
  if (limiter === 'rollgate') app.use(rollgateForExpress({ limit, window: HOUR_MS }));
  if (limiter === 'by hand') {
    app.use((request, response, next) => {
      const decision = limiterByHand.decide(request.ip!) as Decision;
      for (const [name, value] of fieldsOf(decision, Date.now())) response.setHeader(name, value);
      next();
    });
  }
  if (limiter === 'alternative') app.use(expressRateLimit({ limit, windowMs: HOUR_MS }));
  app.get('/', (_request, response) => {
    response.json(BODY);
  });
  const listening = createServer(app as RequestListener).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return listening;
}

async function startFastify(): Promise<Server> {
  const app = Fastify();
  if (limiter === 'rollgate') await app.register(rollgateForFastify, { limit, window: HOUR_MS });
  if (limiter === 'by hand') {
    app.addHook('onRequest', (request, reply, done) => {
      const decision = limiterByHand.decide(request.ip) as Decision;
      for (const [name, value] of fieldsOf(decision, 0)) reply.header(name.toLowerCase(), value);
      done();
    });
  }
  if (limiter === 'alternative') await app.register(fastifyRateLimit, { max: limit, timeWindow: HOUR_MS });
  app.get('/', async () => BODY);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

function fieldsOf({ limit, remaining, resetMs }: Decision, sinceMs: number): readonly (readonly [string, string])[] {
  return [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(Math.ceil((sinceMs + resetMs) / 1000))],
  ];
}
