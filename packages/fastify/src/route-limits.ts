import type { Store } from '@rollgate/core';
import { getOrInsert, invalidOption, isMemoryStore, validateString } from '@rollgate/core/store';
import { mergeOptions, optionError, type WarningCode } from '@rollgate/http';
import type { RateLimitHookOptions, RateLimitOptions, RateLimitRouteOptions } from './options.js';
import { createHook, type RateLimitHook } from './rate-limit-hook.js';

/** Serializes constraints such as `{ host: /^api\./ }`, because JSON would drop the pattern. */
const serializePattern = (_name: string, value: unknown) => (value instanceof RegExp ? String(value) : value);

/** The number of hooks without a name on each store. Each of them has its own count. */
const unnamedHookCounts = new WeakMap<Store, number>();

/**
 * The limits of routes with their own `config.rateLimit`, and of hooks that the app creates. Each route has its own count,
 * which the HEAD route of a GET route shares. Routes with the same `groupId` share one count.
 */
export class RouteHooks {
  /** By the route's options, then by its method and URL, because several routes may share one options object. */
  readonly #hooks = new WeakMap<RateLimitRouteOptions, Map<string, RateLimitHook>>();

  constructor(private readonly pluginOptions: RateLimitRouteOptions) {}

  /**
   * Returns the hook of a route. The first call for a route creates it.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  get(
    routeOptions: RateLimitRouteOptions,
    method: string | string[],
    url: string,
    constraints?: object,
  ): RateLimitHook {
    const route = `${method} ${url}`;
    const existing = this.#hooks.get(routeOptions)?.get(route);
    if (existing !== undefined) return existing;
    if (typeof routeOptions !== 'object' || routeOptions === null) {
      throw invalidOption(`config.rateLimit of ${route}`, 'an object or false', routeOptions);
    }
    const hooksByRoute = getOrInsert(this.#hooks, routeOptions, () => new Map<string, RateLimitHook>());
    const constraintSuffix = constraints === undefined ? '' : ` ${JSON.stringify(constraints, serializePattern)}`;
    // The map keeps the hook, so there is one per route even if the route's first request creates it.
    const silence: WarningCode[] = ['ROLLGATE_LIMITER_PER_REQUEST'];
    const hook = createHook(this.#merge(routeOptions, `${route}${constraintSuffix}`, silence));
    hooksByRoute.set(route, hook);
    if ([method].flat().includes('GET')) hooksByRoute.set(`HEAD ${url}`, hook);
    return hook;
  }

  /**
   * Creates a hook that the app adds itself.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  create(hookOptions: RateLimitHookOptions): RateLimitHook {
    if (typeof hookOptions !== 'object' || hookOptions === null) {
      throw invalidOption('rateLimit options', 'an object', hookOptions);
    }
    const { hook, groupId, prefix } = hookOptions;
    const store = hookOptions.store ?? this.pluginOptions.store!;
    if (hook !== undefined) throw invalidOption('hook', 'left out, because you add the hook to a route yourself', hook);
    if (groupId === undefined && prefix === undefined && !isMemoryStore(store)) throw missingNameError();
    const count = (unnamedHookCounts.get(store) ?? 0) + 1;
    unnamedHookCounts.set(store, count);
    return createHook({ ...this.#merge(hookOptions, `hook ${count}`, []), hook: undefined });
  }

  /**
   * Validates the plugin's options, even if the app has no route with its own limit.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  validatePluginOptions(): void {
    const merged = this.#merge({}, 'no route', ['ROLLGATE_SHARED_KEYS']);
    createHook(mergeOptions({ limit: 1, window: '1s' }, merged));
  }

  /** @param name The name of the route or hook, which is part of its prefix unless it has a `groupId` or a `prefix`. */
  #merge(
    { groupId, ...routeOptions }: RateLimitRouteOptions,
    name: string,
    addedSilence: readonly WarningCode[],
  ): RateLimitOptions {
    if (groupId !== undefined) validateString('groupId', groupId);
    const merged = mergeOptions<RateLimitOptions>(this.pluginOptions, routeOptions);
    const { prefix = 'rollgate', silence = [] } = merged;
    validateString('prefix', prefix);
    if (groupId !== undefined) merged.prefix = `${prefix}:group ${groupId}`;
    else if (routeOptions.prefix === undefined) merged.prefix = `${prefix}:${name}`;
    else merged.prefix = prefix;
    // An app that sets a group or a prefix for several routes shares their count on purpose.
    const isShared = groupId !== undefined || routeOptions.prefix !== undefined;
    const added: readonly WarningCode[] = isShared ? [...addedSilence, 'ROLLGATE_SHARED_KEYS'] : addedSilence;
    return Array.isArray(silence) ? { ...merged, silence: [...silence, ...added] } : merged;
  }
}

const missingNameError = () =>
  optionError(
    'Expected `groupId` or `prefix` in the options of `app.rateLimit()`, got neither. Its keys in a store on a network need a name that all processes share',
  );
