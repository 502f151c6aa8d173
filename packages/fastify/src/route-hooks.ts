import { validate } from '@rollgate/core';
import { createHook, type RateLimitHook } from './hook.js';
import { mergeOptions, type RateLimitRouteOptions } from './options.js';

/**
 * The limits of routes with a `config.rateLimit` of their own. Each route counts for itself, the HEAD route that
 * Fastify adds to a GET route with its GET route.
 */
export class RouteHooks {
  readonly #shared: RateLimitRouteOptions;
  /** By the route's options, and then by its place: several routes may share one options object. */
  readonly #hooks = new WeakMap<RateLimitRouteOptions, Map<string, RateLimitHook>>();

  constructor(shared: RateLimitRouteOptions) {
    this.#shared = shared;
  }

  /** @throws TypeError, RangeError naming the option that is wrong, when the route is met for the first time. */
  of(own: RateLimitRouteOptions, method: string | string[], url: string): RateLimitHook {
    const place = `${method} ${url}`;
    const byPlace = this.#hooks.get(own);
    return byPlace?.get(place) ?? this.#create(own, [method].flat(), url, place);
  }

  #create(own: RateLimitRouteOptions, methods: string[], url: string, place: string): RateLimitHook {
    if (typeof own !== 'object' || own === null) {
      throw validate.misuse(`config.rateLimit of ${place}`, 'an object, or false', own);
    }
    const byPlace = this.#hooks.get(own) ?? new Map<string, RateLimitHook>();
    this.#hooks.set(own, byPlace);
    const prefix = `${this.#shared.prefix ?? 'rollgate'}:${place}`;
    const hook = createHook(mergeOptions({ ...this.#shared, prefix }, own));
    byPlace.set(place, hook);
    if (methods.includes('GET')) byPlace.set(`HEAD ${url}`, hook);
    return hook;
  }
}
