import { MemoryStore, type Store } from '@rollgate/core';
import rateLimit, { type RateLimitPluginOptions } from '@rollgate/fastify';
import fastify5, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import fastify50 from 'fastify50';

/** For `describe.each`: the tests hold with the newest Fastify and with the oldest that is allowed. */
export const VERSIONS = [
  ['newest', fastify5],
  ['5.0.0', fastify50],
] as const;

/** The time of every store here; it stands still unless a test moves it. */
export const clock = {
  ms: 1_000_000,
  now: () => clock.ms,
};

export const memory = () => new MemoryStore({ clock });

/** A store that is none of this process's memory: it answers later, and may fail. */
export const storeWith = (methods: Partial<Store>, inner = memory()): Store => ({
  check: async (...question) => inner.check(...question),
  peek: async (...question) => inner.peek(...question),
  refund: async (receipt) => inner.refund(receipt),
  reset: async (...keys) => inner.reset(...keys),
  ...methods,
});

export type Get = (path?: string, init?: RequestInit) => Promise<Response>;

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

/** Makes apps of one version of Fastify; they are closed after the test. */
export function appsOf(fastify: (typeof VERSIONS)[number][1]) {
  function create(serverOptions: FastifyServerOptions = {}): FastifyInstance {
    const app = fastify({ forceCloseConnections: true, ...serverOptions });
    apps.push(app);
    return app;
  }

  async function limited(options: Partial<RateLimitPluginOptions>, serverOptions?: FastifyServerOptions) {
    const app = create(serverOptions);
    // Apps of tests are many, and are asked little.
    const silence = ['ROLLGATE_LIMITER_PER_REQUEST'];
    await app.register(rateLimit, { store: memory(), silence, ...options } as RateLimitPluginOptions);
    return app;
  }

  return { create, limited };
}

export const listen = (app: FastifyInstance) => app.listen({ port: 0, host: '127.0.0.1' });

/** A function that fetches a path from the app over a real connection. */
export async function serve(app: FastifyInstance): Promise<Get> {
  const address = await listen(app);
  return (path = '/', init) => fetch(address + path, init);
}

/** The statuses of one request after the other: `'/path'`, or `'HEAD /path'`. */
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

/** Goes on when what the other side did has been noticed; fails where that never comes. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 100_000;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`Waited in vain for ${isTrue}`);
    await new Promise(setImmediate);
  }
}
