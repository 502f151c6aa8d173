import { type Decision, type Limits, MemoryStore, type RateLimiter } from '@rollgate/core';
import { validate, withCode } from '@rollgate/core/store';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { createHook, type Done, type RateLimitHook } from './hook.js';
import {
  type AppRateLimiter,
  HOOKS,
  type Hook,
  type HookFunction,
  mergeOptions,
  type RateLimitHookFunction,
  type RateLimitPluginOptions,
  type RateLimitRouteOptions,
} from './options.js';
import { RouteHooks } from './route-hooks.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the rate limiter decided about this request; `null` when none did. */
    rateLimit: Decision | null;
  }
  interface FastifyInstance {
    /**
     * Makes a hook for one route, or for the handler of unknown ones: `{ preHandler: app.rateLimit({ … }) }`. What the
     * options leave out is as the plugin was told; without a `groupId` it counts for itself.
     */
    rateLimit<Given extends Limits = Limits>(options?: RateLimitRouteOptions<Given>): RateLimitHookFunction<Given>;
    /** The limiter of the routes without a limit of their own, to peek or reset a key; `undefined` with `global: false`. */
    readonly rateLimiter: AppRateLimiter | undefined;
  }
  interface FastifyContextConfig {
    /** The route's own limit, or `false` for none. */
    rateLimit?: RateLimitRouteOptions | false | undefined;
  }
}

/** The hooks of routes that decide elsewhere than the plugin does, and the functions added to those routes for them. */
const addedToRoutes = new WeakMap<RateLimitHook, object>();

/** What one registration of the plugin has for the contexts below it. */
interface Registration {
  readonly routes: RouteHooks;
  readonly limiter: RateLimiter | undefined;
}

/** The plugin's type: `rateLimit<typeof limits>` knows the names of the limits, where their keys are to be told. */
export interface RateLimitPlugin {
  <Given extends Limits>(app: FastifyInstance, options: RateLimitPluginOptions<Given>): Promise<void>;
  // Last, because it is the one that `app.register` infers from.
  (app: FastifyInstance, options: RateLimitPluginOptions): Promise<void>;
}

/** On each Fastify instance and those below it, the rate limit registered nearest to it. */
const nearest = Symbol('the nearest rate limit');

/**
 * Limits the routes of the context it is registered in and of those below, and requests for routes there are none of:
 * a refused request is an error with status 429 and the code `RATE_LIMIT_EXCEEDED`, which the app's error handler sees.
 * It decides in the order of the hooks: after those that were added before it, before those added later. With a queue
 * such as `leakyBucket` a request is held until its turn; when its client leaves before, it goes nowhere, and its place is
 * given back. Not noticed is who leaves an HTTP/1 request with more than about 64 kB of body that nobody has read, for Node
 * stops reading there: it goes on at its turn. In the hooks `'preValidation'` and `'preHandler'` it is noticed.
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
export const rateLimit = fastifyPlugin(rateLimitPlugin, {
  fastify: '5.x',
  name: '@rollgate/fastify',
}) as RateLimitPlugin;

async function rateLimitPlugin(app: FastifyInstance, options: RateLimitPluginOptions): Promise<void> {
  const { global: isGlobal = true, ...given } = options;
  validate.boolean('global', isGlobal);
  const hook = validate.oneOf('hook', given.hook ?? 'onRequest', HOOKS);
  // One store for all routes, so that those with the same `prefix` share a count.
  const ownStore = given.store === undefined ? new MemoryStore() : undefined;
  const shared: RateLimitRouteOptions = { ...given, store: given.store ?? ownStore };
  const globalHook = isGlobal ? createHook(mergeOptions(shared, {})) : undefined;
  const routeHooks = new RouteHooks(shared);
  if (!isGlobal) routeHooks.checkShared();
  const registration: Registration = { routes: routeHooks, limiter: globalHook?.limiter };
  Object.assign(app, { [nearest]: registration });

  function rateLimitHook(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const { config } = request.routeOptions;
    const own = config.rateLimit;
    if (own === undefined && globalHook !== undefined) globalHook.run(request, reply, done);
    else if (own === undefined || own === false || nearestTo(request.server) !== registration) done();
    else runOwn(own, request, reply, done);
  }

  function runOwn(own: RateLimitRouteOptions, request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const { method, url } = request.routeOptions.config;
    let routeHook: RateLimitHook;
    try {
      routeHook = routeHooks.of(own, method, url);
    } catch (error) {
      done(error as Error); // Of a route that was added before the plugin had loaded: others are refused when added.
      return;
    }
    if (routeHook.hook === hook) routeHook.run(request, reply, done);
    else if (addedToRoutes.has(routeHook)) done();
    else
      done(
        withCode(
          'ERR_ROLLGATE_LATE_PLUGIN',
          new Error(`Add routes with the \`hook\` ${routeHook.hook} after \`await app.register(rateLimit)\``),
        ),
      );
  }

  decorate(app);
  addHook(app, hook, rateLimitHook);
  app.addHook('onRoute', function (route) {
    const own = route.config?.rateLimit;
    if (own === undefined || own === false || nearestTo(this) !== registration) return;
    const routeHook = routeHooks.of(own, route.method, route.url, route.constraints);
    if (routeHook.hook !== hook) addRouteHook(route, routeHook);
  });
  app.addHook('onClose', async () => ownStore?.close());
}

function decorate(app: FastifyInstance): void {
  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', null);
  if (app.hasDecorator('rateLimiter')) return; // Of a registration above.
  app.decorate('rateLimit', function rateLimit(this: FastifyInstance, options: RateLimitRouteOptions = {}) {
    const { run, limiter } = nearestTo(this)!.routes.create(options);
    const hook: HookFunction = (request, reply, ...payloadAndDone) =>
      run(request as FastifyRequest, reply as FastifyReply, payloadAndDone.at(-1) as Done);
    return Object.assign(hook, { limiter });
  });
  app.decorate('rateLimiter', {
    getter(this: FastifyInstance) {
      return nearestTo(this)?.limiter;
    },
  });
}

function nearestTo(app: FastifyInstance): Registration | undefined {
  return (app as { [nearest]?: Registration })[nearest];
}

function addHook(app: FastifyInstance, hook: Hook, run: RateLimitHook['run']): void {
  if (hook === 'preParsing') app.addHook(hook, withoutPayload(run));
  else app.addHook(hook as 'onRequest', run);
}

/** Before the route's own hooks, and once: Fastify makes the HEAD route of a GET route with its hooks. */
function addRouteHook(route: RouteOptions, routeHook: RateLimitHook): void {
  const { hook, run } = routeHook;
  const present = [route[hook] ?? []].flat() as object[];
  const added = addedToRoutes.get(routeHook) ?? (hook === 'preParsing' ? withoutPayload(run) : run);
  addedToRoutes.set(routeHook, added);
  if (!present.includes(added)) Object.assign(route, { [hook]: [added, ...present] });
}

function withoutPayload(run: RateLimitHook['run']) {
  return (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: Done) => run(request, reply, done);
}
