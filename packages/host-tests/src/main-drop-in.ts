// Serves other rate limiters whose storage is Rollgate's, sends them requests, and prints what the client saw.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import fastifyRateLimit from '@fastify/rate-limit';
import { createAdaptorServer } from '@hono/node-server';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { createStore } from '@rollgate/core/store';
import { RollingWindowStore as ExpressStore } from '@rollgate/express/express-rate-limit';
import { rollingWindowStore } from '@rollgate/fastify/fastify-rate-limit';
import { RollingWindowStore as HonoStore } from '@rollgate/hono/hono-rate-limiter';
import type { StorageOptions } from '@rollgate/http/drop-in';
import { RollingWindowStorage } from '@rollgate/nestjs/throttler';
import { RedisStore } from '@rollgate/redis';
import { rollingWindowStorage } from '@rollgate/web/better-auth';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { Redis } from 'ioredis';
import { serveNest } from './serve-nest.js';

const LIMIT = 10;
const HOUR_MS = 3_600_000;

const SERVERS: Record<string, (options: StorageOptions) => Server | Promise<Server>> = {
  'express-rate-limit': (options) => {
    const app = express();
    app.use(rateLimit({ windowMs: HOUR_MS, limit: LIMIT, store: new ExpressStore(options) }));
    app.get('/', (_request, response) => void response.send('hello'));
    return createServer(app);
  },
  'hono-rate-limiter': (options) => {
    const app = new Hono();
    const store = new HonoStore(options);
    app.use(rateLimiter({ windowMs: HOUR_MS, limit: LIMIT, keyGenerator: () => 'one client', store }));
    app.get('/', (c) => c.text('hello'));
    app.onError((error, c) => c.text(error.message, 500));
    return createAdaptorServer({ fetch: app.fetch }) as Server;
  },
  '@fastify/rate-limit': async (options) => {
    const app = Fastify();
    await app.register(fastifyRateLimit, { max: LIMIT, timeWindow: HOUR_MS, store: rollingWindowStore(options) });
    app.get('/', async () => 'hello');
    await app.ready();
    return app.server;
  },
  '@nestjs/throttler': async (options) => {
    const storage = new RollingWindowStorage(options);
    const throttlers = [{ ttl: HOUR_MS, limit: LIMIT, blockDuration: 2 * HOUR_MS }];
    return serveNest(ThrottlerModule.forRoot({ throttlers, storage }), ThrottlerGuard);
  },
  'Better Auth': (options) => {
    const auth = betterAuth({
      baseURL: 'http://localhost:3000',
      secret: 'a secret of at least 32 characters',
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      logger: { disabled: true },
      rateLimit: { enabled: true, window: 3600, max: LIMIT, customStorage: rollingWindowStorage(options) },
      advanced: { ipAddress: { ipAddressHeaders: ['x-client-ip'] } },
    });
    const handle = toNodeHandler(auth);
    return createServer((request, response) => {
      request.url = '/api/auth/get-session';
      request.headers['x-client-ip'] = '192.0.2.1';
      handle(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
    });
  },
};

/** Sends requests at once. Returns how many were allowed, and the statuses and waits of the others. */
async function send(server: Server, count: number): Promise<unknown> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  const responses = await Promise.all(
    Array.from({ length: count }, async () => {
      const response = await fetch(url);
      return { response, body: await response.text() };
    }),
  );
  server.closeAllConnections();
  server.close();
  const others = responses.filter(({ response }) => response.status !== 200);
  const waitOf = ({ headers }: Response) => headers.get('retry-after') ?? headers.get('x-retry-after');
  return {
    allowed: count - others.length,
    statuses: [...new Set(others.map(({ response }) => response.status))],
    hours: [...new Set(others.map(({ response }) => Math.round(Number(waitOf(response)) / 3600)))],
    showsAddress: others.some(({ body }) => body.includes('10.1.2.3')),
  };
}

subscribe('rollgate:store:failure', () => {}); // Instead of a warning.
const client = new Redis(process.env.REDIS_URL!);
const inRedis = () => ({ store: new RedisStore({ client }), prefix: `drop-in ${randomUUID()}`, timeout: '60s' });
const failing = createStore({ transact: () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:6379')) });

const found: Record<string, unknown> = {};
for (const [name, serve] of Object.entries(SERVERS)) {
  found[name] = {
    memory: await send(await serve({}), 100),
    redis: await send(await serve(inRedis()), 100),
    failing: await send(await serve({ store: failing }), 1),
  };
}
client.disconnect();
console.log(JSON.stringify(found));
