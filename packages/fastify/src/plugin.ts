import { type Decision, type Limits, MemoryStore } from '@rollgate/core';
import { validateBoolean, validateOneOf, withCode } from '@rollgate/core/store';
import { mergeOptions } from '@rollgate/http';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import {
  type AppRateLimiter,
  HOOKS,
  type Hook,
  type HookFunction,
  type RateLimitHookFunction,
  type RateLimitHookOptions,
  type RateLimitPluginOptions,
  type RateLimitRouteOptions,
} from './options.js';
import { createHook, type Done, type RateLimitHook } from './rate-limit-hook.js';
import { RouteHooks } from './route-limits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision of the rate limiter about this request; `null` without one. */
    rateLimit: Decision | null;
  }
  interface FastifyInstance {
    /**
     * Creates a hook for one route, or for the handler of unknown ones: `{ preHandler: app.rateLimit({ … }) }`. It inherits
     * the plugin's options. Without a `groupId` or a `prefix`, each hook has its own count.
     */
    rateLimit<Given extends Limits = Limits>(options?: RateLimitHookOptions<Given>): RateLimitHookFunction<Given>;
    /** The limiter of the routes without their own limit, to peek or reset a key; `undefined` with `global: false`. */
    readonly rateLimiter: AppRateLimiter | undefined;
  }
  interface FastifyContextConfig {
    /** The route's own limit, or `false` for none. */
    rateLimit?: RateLimitRouteOptions | false | undefined;
  }
}

/** The function that was added to a route, for each limit of a route that runs in another hook than the plugin's. */
const addedToRoutes = new WeakMap<RateLimitHook, object>();

/** One registration of the plugin. It applies to its context and to those inside it. */
interface Registration {
  readonly hook: Hook;
  readonly routeHooks: RouteHooks;
  readonly globalHook: RateLimitHook | undefined;
}

/** The plugin's type. `rateLimit<typeof limits>` knows the names of the limits, for a `key` that returns one key for each. */
export interface RateLimitPlugin {
  <Given extends Limits>(app: FastifyInstance, options: RateLimitPluginOptions<Given>): Promise<void>;
  // Last, because `app.register` infers from the last overload.
  (app: FastifyInstance, options: RateLimitPluginOptions): Promise<void>;
}

/** On each Fastify instance, the registration in its context or in the nearest one around it. */
const nearestRegistration = Symbol('nearest rate limit');

/**
 * Limits the routes of its context and of those inside it, and requests for unknown routes. A rejected request is an error
 * with status 429 and the code `RATE_LIMIT_EXCEEDED`, which the app's error handler gets. The limiter runs as a hook, after
 * the hooks that were added before the plugin and before later ones.
 *
 * With a queue such as `leakyBucket`, the hook delays a request until its start. If the client disconnects before, it drops
 * the request and refunds it.
 *
 * Note: over HTTP/1, Node cannot detect a disconnect while more than about 64 kB of the request's body are unread. Such a
 * request continues at its start. The hooks `'preValidation'` and `'preHandler'` run after the body is read and avoid this.
 *
 * @throws TypeError, RangeError with the name of the invalid option, when the plugin is registered.
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
export const rateLimit = fastifyPlugin(rateLimitPlugin, {
  fastify: '5.x',
  name: '@rollgate/fastify',
}) as RateLimitPlugin;

async function rateLimitPlugin(app: FastifyInstance, options: RateLimitPluginOptions): Promise<void> {
  const { global: isGlobal = true, ...given } = options;
  validateBoolean('global', isGlobal);
  const hook = validateOneOf('hook', given.hook ?? 'onRequest', HOOKS);
  // One store for all routes, so that those with the same `prefix` share a count.
  const ownStore = given.store === undefined ? new MemoryStore() : undefined;
  const pluginOptions: RateLimitRouteOptions = { ...given, store: given.store ?? ownStore };
  const globalHook = isGlobal ? createHook(mergeOptions(pluginOptions, {})) : undefined;
  const routeHooks = new RouteHooks(pluginOptions);
  if (!isGlobal) routeHooks.validatePluginOptions();
  const registration: Registration = { hook, routeHooks, globalHook };
  Object.assign(app, { [nearestRegistration]: registration });

  addDecorators(app);
  app.addHook(hook as 'onRequest', toHookFunction(hook, createPluginHook(registration)));
  app.addHook('onRoute', function (route) {
    const routeOptions = route.config?.rateLimit;
    if (routeOptions === undefined || routeOptions === false || findRegistration(this) !== registration) return;
    const routeHook = routeHooks.get(routeOptions, route.method, route.url, route.constraints);
    if (routeHook.hook !== hook) addRouteHook(route, routeHook);
  });
  app.addHook('onClose', async () => ownStore?.close());
}

/** Creates the plugin's hook, which finds the limit of the request's route. */
function createPluginHook(registration: Registration): RateLimitHook['run'] {
  const { hook, routeHooks, globalHook } = registration;
  return function rateLimitHook(request, reply, done) {
    const { config } = request.routeOptions;
    const { rateLimit: options } = config;
    if (options === undefined && globalHook !== undefined) return globalHook.run(request, reply, done);
    if (options === undefined || options === false || findRegistration(request.server) !== registration) return done();
    let routeHook: RateLimitHook;
    try {
      routeHook = routeHooks.get(options, config.method, config.url);
    } catch (error) {
      return done(error as Error); // Only for a route that was added before the plugin. `onRoute` throws for the others.
    }
    if (routeHook.hook === hook) routeHook.run(request, reply, done);
    else if (addedToRoutes.has(routeHook)) done();
    else done(latePluginError(routeHook.hook));
  };
}

function latePluginError(hook: Hook): Error {
  const message = `Expected a route with the \`hook\` '${hook}' to be added after the plugin, got one from before. Await \`app.register(rateLimit)\` first`;
  return withCode('ERR_ROLLGATE_LATE_PLUGIN', new Error(message));
}

function addDecorators(app: FastifyInstance): void {
  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', null);
  if (app.hasDecorator('rateLimiter')) return; // From a registration in a context around this one.
  app.decorate('rateLimit', function rateLimit(this: FastifyInstance, options: RateLimitHookOptions = {}) {
    const { run, limiter } = findRegistration(this)!.routeHooks.create(options);
    const hook: HookFunction = (request, reply, ...payloadAndDone) =>
      run(request as FastifyRequest, reply as FastifyReply, payloadAndDone.at(-1) as Done);
    return Object.assign(hook, { limiter });
  });
  app.decorate('rateLimiter', {
    getter(this: FastifyInstance) {
      return findRegistration(this)?.globalHook?.limiter;
    },
  });
}

function findRegistration(app: FastifyInstance): Registration | undefined {
  return (app as { [nearestRegistration]?: Registration })[nearestRegistration];
}

/** Adds a hook before the route's other hooks. Fastify copies them to the HEAD route of a GET route, so it adds it once. */
function addRouteHook(route: RouteOptions, routeHook: RateLimitHook): void {
  const { hook, run } = routeHook;
  const present = [route[hook] ?? []].flat() as object[];
  const added = addedToRoutes.get(routeHook) ?? toHookFunction(hook, run);
  addedToRoutes.set(routeHook, added);
  if (!present.includes(added)) Object.assign(route, { [hook]: [added, ...present] });
}

/** Returns the function that Fastify calls in this hook. `preParsing` passes the payload before the callback. */
function toHookFunction(hook: Hook, run: RateLimitHook['run']): RateLimitHook['run'] {
  if (hook !== 'preParsing') return run;
  const withPayload = (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: Done) =>
    run(request, reply, done);
  return withPayload as never;
}
