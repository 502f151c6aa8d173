// A tRPC server with a middleware that limits its procedures.   npm run
// example trpc.ts
import type { AddressInfo } from 'node:net';
import { createClientKey, RateLimiter } from '@rollgate/node';
import { initTRPC, TRPCError } from '@trpc/server';
import {
  type CreateHTTPContextOptions,
  createHTTPServer,
} from '@trpc/server/adapters/standalone';

// A household usually has a whole /56 network of IPv6 addresses.
const toKey = createClientKey(56);

const createContext = ({ req, res }: CreateHTTPContextOptions) => ({
  // If your users log in, use their IDs instead.
  client: toKey(req.socket.remoteAddress ?? ''),
  response: res,
});
const t = initTRPC.context<typeof createContext>().create();

/**
 * Creates a middleware that limits each client. Each call of a batch
 * counts.
 */
const limitBy = (limiter: RateLimiter) =>
  t.middleware(async ({ ctx, next }) => {
    const { allowed, retryAfterMs } = await limiter.check(ctx.client);
    if (allowed) return next();
    const seconds = Math.ceil(retryAfterMs / 1000);
    if (!ctx.response.headersSent)
      ctx.response.setHeader('Retry-After', seconds);
    throw new TRPCError({
      code: 'TOO_MANY_REQUESTS',
      message: `Rate limit exceeded: try again in ${seconds} seconds`,
    });
  });

const calls = new RateLimiter({
  limit: 100,
  window: '1m',
  prefix: 'calls',
});
const reports = new RateLimiter({
  limit: 2,
  window: '1m',
  prefix: 'reports',
});

const procedure = t.procedure.use(limitBy(calls));
const appRouter = t.router({
  hello: procedure.query(({ ctx }) => `hello ${ctx.client}`),
  // Both limits apply. A call that `reports` rejects still counts
  // toward `calls`.
  report: procedure.use(limitBy(reports)).query(() => 'a report'),
});
export type AppRouter = typeof appRouter;

const server = createHTTPServer({ router: appRouter, createContext });
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate in tRPC, on ${url}: 100 calls per client in any minute, of which 2 create reports.

  for i in $(seq 3); do curl -i ${url}/report; echo; done

Ctrl-C stops the server.`);
});
