import type { Store } from '@rollgate/core';
import { isMemoryStore, validate, withCode } from '@rollgate/core/store';
import type { WarningCode } from '@rollgate/http';
import { createHook, type RateLimitHook } from './hook.js';
import { mergeOptions, type RateLimitOptions, type RateLimitRouteOptions } from './options.js';

/** For constraints such as `{ host: /^api\./ }`. */
const asText = (_name: string, value: unknown) => (value instanceof RegExp ? String(value) : value);

/** How many hooks without a name were made on a store: each counts for itself. */
const hooksOn = new WeakMap<Store, number>();

/**
 * The limits of routes with a `config.rateLimit` of their own, and of hooks that were made by hand. Each route counts for
 * itself, the HEAD route that Fastify adds to a GET route with its GET route; or with all those of its group.
 */
export class RouteHooks {
  readonly #shared: RateLimitRouteOptions;
  /** By the route's options, and then by its place: several routes may share one options object. */
  readonly #hooks = new WeakMap<RateLimitRouteOptions, Map<string, RateLimitHook>>();

  constructor(shared: RateLimitRouteOptions) {
    this.#shared = shared;
  }

  /** @throws TypeError, RangeError naming the option that is wrong, when the route is met for the first time. */
  of(own: RateLimitRouteOptions, method: string | string[], url: string, constraints?: object): RateLimitHook {
    const place = `${method} ${url}`;
    return this.#hooks.get(own)?.get(place) ?? this.#ofRoute(own, [method].flat(), url, place, constraints);
  }

  /**
   * A hook that the user adds where it is wanted.
   *
   * @throws TypeError, RangeError naming the option that is wrong.
   */
  create(own: RateLimitRouteOptions): RateLimitHook {
    if (typeof own !== 'object' || own === null) throw validate.invalidOption('rateLimit options', 'an object', own);
    if (own.hook !== undefined)
      throw validate.invalidOption('hook', 'left out, as the hook is where it is added', own.hook);
    const hasName = own.groupId !== undefined || own.prefix !== undefined;
    const store = own.store ?? this.#shared.store!;
    if (!hasName && !isMemoryStore(store)) {
      throw withCode(
        'ERR_ROLLGATE_INVALID_OPTION',
        new TypeError(
          'Expected `groupId` or `prefix` in the options of `app.rateLimit()`: with a store on a network its keys need a name that all processes agree on',
        ),
      );
    }
    const made = (hooksOn.get(store) ?? 0) + 1;
    hooksOn.set(store, made);
    return createHook({ ...this.#merged(own, `hook ${made}`, []), hook: undefined });
  }

  /**
   * Refuses what is wrong in what the routes have in common, also when no route is there yet.
   *
   * @throws TypeError, RangeError naming the option that is wrong.
   */
  checkShared(): void {
    const shared = this.#merged({}, 'no route', ['ROLLGATE_SHARED_KEYS']);
    createHook(mergeOptions({ limit: 1, window: '1s' }, shared));
  }

  #ofRoute(
    own: RateLimitRouteOptions,
    methods: string[],
    url: string,
    place: string,
    constraints: object | undefined,
  ): RateLimitHook {
    if (typeof own !== 'object' || own === null) {
      throw validate.invalidOption(`config.rateLimit of ${place}`, 'an object, or false', own);
    }
    const byPlace = this.#hooks.get(own) ?? new Map<string, RateLimitHook>();
    this.#hooks.set(own, byPlace);
    const constrained = constraints === undefined ? '' : ` ${JSON.stringify(constraints, asText)}`;
    // Kept by its route, so not one for each request, also when it is made for the first one.
    const hook = createHook(this.#merged(own, `${place}${constrained}`, ['ROLLGATE_LIMITER_PER_REQUEST']));
    byPlace.set(place, hook);
    if (methods.includes('GET')) byPlace.set(`HEAD ${url}`, hook);
    return hook;
  }

  #merged({ groupId, ...own }: RateLimitRouteOptions, place: string, silent: readonly WarningCode[]): RateLimitOptions {
    if (groupId !== undefined) validate.string('groupId', groupId);
    const merged = mergeOptions(this.#shared, own);
    const { prefix = 'rollgate', silence = [] } = merged;
    validate.string('prefix', prefix);
    if (groupId !== undefined) merged.prefix = `${prefix}:group ${groupId}`;
    else if (own.prefix === undefined) merged.prefix = `${prefix}:${place}`;
    else merged.prefix = prefix;
    // Who names a group or a prefix knows that it is shared.
    const isShared = groupId !== undefined || own.prefix !== undefined;
    const known: readonly WarningCode[] = isShared ? [...silent, 'ROLLGATE_SHARED_KEYS'] : silent;
    return Array.isArray(silence) ? { ...merged, silence: [...silence, ...known] } : merged;
  }
}
