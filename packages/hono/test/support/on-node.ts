import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { rateLimit } from '@rollgate/hono';
import type { Hono } from 'hono';

export type NodeEnv = { Bindings: HttpBindings };

export const limitOf = (limit: number, options = {}) =>
  rateLimit({ limit, window: '1m', key: () => 'ann', ...options });

/** Serves the app on Node, and requests these paths one after the other. */
export async function request(
  app: Hono<NodeEnv>,
  ...requests: (string | { path: string; method: string })[]
): Promise<Response[]> {
  const server = createAdaptorServer({ fetch: app.fetch });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const responses: Response[] = [];
  try {
    for (const each of requests) {
      const { path, method } = typeof each === 'string' ? { path: each, method: 'GET' } : each;
      responses.push(await fetch(`http://127.0.0.1:${port}${path}`, { method }));
    }
  } finally {
    server.close();
  }
  return responses;
}

/** The values of these `X-RateLimit` headers. */
export const valuesOf = (response: Response, ...names: string[]) =>
  names.map((name) => response.headers.get(`x-ratelimit-${name}`));
