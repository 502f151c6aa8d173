import rateLimit, { type RateLimitPluginOptions } from '@rollgate/fastify';
import fastify5, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import fastify50 from 'fastify50';
import { memory } from './test-stores.js';

export { clock, memory, storeWith, until } from './test-stores.js';

/** For `describe.each`: the newest Fastify and the oldest supported one. */
export const VERSIONS = [
  ['newest', fastify5],
  ['5.0.0', fastify50],
] as const;

export type Get = (path?: string, init?: RequestInit) => Promise<Response>;

/** Otherwise, a timer would keep the app of an HTTP/2 session in memory for 72 seconds. */
const NO_SESSION_TIMER: object = { http2SessionTimeout: 0 };

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

/** Creates apps of one version of Fastify, which are closed after the test. */
export function appsOf(fastify: (typeof VERSIONS)[number][1]) {
  function create(serverOptions: FastifyServerOptions = {}): FastifyInstance {
    const app = fastify({ forceCloseConnections: true, ...NO_SESSION_TIMER, ...serverOptions });
    apps.push(app);
    return app;
  }

  async function limited(options: Partial<RateLimitPluginOptions>, serverOptions?: FastifyServerOptions) {
    const app = create(serverOptions);
    // Tests create many apps that get few requests.
    const silence = ['ROLLGATE_LIMITER_PER_REQUEST'];
    await app.register(rateLimit, { store: memory(), silence, ...options } as RateLimitPluginOptions);
    return app;
  }

  return { create, limited };
}

export const listen = (app: FastifyInstance) => app.listen({ port: 0, host: '127.0.0.1' });

/** Returns a function that fetches a path from the app over a real connection. */
export async function serve(app: FastifyInstance): Promise<Get> {
  const address = await listen(app);
  return (path = '/', init) => fetch(address + path, init);
}

/** Sends one request after the other, `'/path'` or `'HEAD /path'`, and returns their statuses. */
export async function statuses(get: Get, ...requests: string[]): Promise<number[]> {
  const found: number[] = [];
  for (const request of requests) {
    const [path, method = 'GET'] = request.split(' ').reverse();
    const reply = await get(path, { method });
    await reply.text();
    found.push(reply.status);
  }
  return found;
}
