// Sends parallel requests to servers with other limiters and with Rollgate's, and prints how many each has allowed.
import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { nodeAddress, rateLimit, rollingWindow } from '@rollgate/hono';
import { RateLimitGuard, RateLimitModule } from '@rollgate/nestjs';
import { Hono, type MiddlewareHandler } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { serveNest } from './serve-nest.js';

const REQUESTS = 100;
const LIMIT = 10;
const HOUR_MS = 3_600_000;

function serveHono(limit: MiddlewareHandler): Server {
  const app = new Hono();
  app.use(limit);
  app.get('/', (c) => c.text('hello'));
  return createAdaptorServer({ fetch: app.fetch }) as Server;
}

/** Sends all requests at once, and returns how many the server allows. */
async function countAllowed(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  const responses = await Promise.all(Array.from({ length: REQUESTS }, () => fetch(url)));
  server.closeAllConnections();
  server.close();
  return responses.filter(({ status }) => status === 200).length;
}

const hour = rollingWindow({ limit: LIMIT, window: HOUR_MS });
const oneLimit = {
  'hono-rate-limiter': () =>
    serveHono(rateLimiter({ windowMs: HOUR_MS, limit: LIMIT, keyGenerator: () => 'one client' }) as MiddlewareHandler),
  '@rollgate/hono': () => serveHono(rateLimit({ limits: hour, address: nodeAddress })),
  '@nestjs/throttler': () => serveNest(ThrottlerModule.forRoot([{ ttl: HOUR_MS, limit: LIMIT }]), ThrottlerGuard),
  '@rollgate/nestjs': () => serveNest(RateLimitModule.forRoot({ limits: hour }), RateLimitGuard),
};

/** Requests over the limit of 2 must not use up the limit of 20. */
const twoLimits = {
  '@nestjs/throttler': () =>
    serveNest(
      ThrottlerModule.forRoot([
        { name: 'wide', ttl: HOUR_MS / 2, limit: 2 * LIMIT },
        { name: 'narrow', ttl: HOUR_MS, limit: 2 },
      ]),
      ThrottlerGuard,
    ),
  '@rollgate/nestjs': () =>
    serveNest(
      RateLimitModule.forRoot({
        limits: {
          wide: rollingWindow({ limit: 2 * LIMIT, window: HOUR_MS / 2 }),
          narrow: rollingWindow({ limit: 2, window: HOUR_MS }),
        },
        headers: 'draft-11',
      }),
      RateLimitGuard,
    ),
};

/** Returns what is left of the limit of 20 after 10 requests, of which the other limit rejects 8. */
async function leftOfWideLimit(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  let left = Number.NaN;
  for (let turn = 0; turn < LIMIT; turn++) {
    const { headers } = await fetch(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
    const draft = /"wide";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
    const own = headers.get('x-ratelimit-remaining-wide') ?? draft;
    if (own !== undefined) left = Number(own);
  }
  server.closeAllConnections();
  server.close();
  return left;
}

const allowed: Record<string, number> = {};
for (const [name, serve] of Object.entries(oneLimit)) allowed[name] = await countAllowed(await serve());
const left: Record<string, number> = {};
for (const [name, serve] of Object.entries(twoLimits)) left[name] = await leftOfWideLimit(await serve());
console.log(JSON.stringify({ allowed, left }));
