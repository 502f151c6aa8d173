import { type Decision, MemoryStore, validate } from '@rollgate/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { createHook, type RateLimitHook } from './hook.js';
import { HOOKS, mergeOptions, type RateLimitPluginOptions, type RateLimitRouteOptions } from './options.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the rate limiter decided about this request; `null` when none did. */
    rateLimit: Decision | null;
  }
  interface FastifyContextConfig {
    /** The route's own limit, or `false` for none. */
    rateLimit?: RateLimitRouteOptions | false | undefined;
  }
}

/** The hook functions that were made for one route's own options. */
const ownHooks = new WeakSet<object>();

/**
 * Limits the routes that are added after it, in the context it is registered in and those below: a refused request is
 * an error with status 429 and the code `RATE_LIMIT_EXCEEDED`, which the app's error handler sees.
 *
 * @throws TypeError, RangeError at registration, naming the option that is wrong.
 * @example
 * ```ts
 * import rateLimit from '@rollgate/fastify';
 * import Fastify from 'fastify';
 *
 * const app = Fastify();
 * await app.register(rateLimit, { limit: 100, window: '1m' });
 * app.get('/', async () => 'hello');
 * app.get('/search', { config: { rateLimit: { limit: 5, window: '1m' } } }, async () => []);
 * app.get('/health', { config: { rateLimit: false } }, async () => 'ok');
 *
 * const reply = await app.inject('/search');
 * reply.headers['x-ratelimit-remaining']; // => '4'
 * ```
 */
export const rateLimit = fastifyPlugin(rateLimitPlugin, { fastify: '5.x', name: '@rollgate/fastify' });

async function rateLimitPlugin(app: FastifyInstance, options: RateLimitPluginOptions): Promise<void> {
  const { global: isGlobal = true, ...given } = options;
  validate.boolean('global', isGlobal);
  // One store for all routes, so that those with the same `prefix` share a count.
  const ownStore = given.store === undefined ? new MemoryStore() : undefined;
  const shared: RateLimitRouteOptions = { ...given, store: given.store ?? ownStore };
  const globalHook = isGlobal ? createHook(mergeOptions(shared, {})) : undefined;

  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', null);
  app.addHook('onRoute', (route) => {
    const routeOptions = route.config?.rateLimit;
    if (routeOptions === false) return;
    if (routeOptions === undefined) {
      if (globalHook !== undefined) addHook(route, globalHook);
    } else if (!hooksOf(route).some((run) => ownHooks.has(run))) {
      const hook = createRouteHook(route, shared, routeOptions);
      ownHooks.add(hook.run);
      addHook(route, hook);
    }
  });
  app.addHook('onClose', async () => ownStore?.close());
}

/** Each route counts for itself, the HEAD route that Fastify adds to a GET route with its GET route. */
function createRouteHook(
  { method, url }: RouteOptions,
  shared: RateLimitRouteOptions,
  options: RateLimitRouteOptions,
): RateLimitHook {
  if (typeof options !== 'object' || options === null) {
    throw validate.misuse(`config.rateLimit of ${method} ${url}`, 'an object, or false', options);
  }
  const methods = [method].flat().map((one) => (one === 'HEAD' ? 'GET' : one));
  const prefix = `${shared.prefix ?? 'rollgate'}:${methods.join(',')} ${url}`;
  return createHook(mergeOptions({ ...shared, prefix }, options));
}

/** Unless it is there: Fastify makes a HEAD route of a GET route with its hooks, and announces it like any other. */
function addHook(route: RouteOptions, { hook, run }: RateLimitHook): void {
  if (hooksOf(route).includes(run)) return;
  Object.assign(route, { [hook]: [...[route[hook] ?? []].flat(), run] });
}

function hooksOf(route: RouteOptions): object[] {
  return HOOKS.flatMap((hook) => route[hook] ?? []);
}
