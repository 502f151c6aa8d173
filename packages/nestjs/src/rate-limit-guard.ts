import { type CanActivate, type ExecutionContext, Inject, Injectable, type Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { MemoryStore, type RateLimiter } from '@rollgate/core';
import { getOrInsert, invalidOption, ROLLING_WINDOW_OPTIONS } from '@rollgate/core/store';
import { type Awaitable, mergeOptions, optionError, type WarningCode } from '@rollgate/http';
import { NestLimiter } from './nest-limiter.js';
import type { RateLimitModuleOptions, RateLimitOptions } from './options.js';
import {
  type Handler,
  hasUndecoratedRoute,
  limitedMethods,
  methodOf,
  nameCount,
  nameMethod,
  readMetadata,
} from './route-names.js';

/** The token by which the module provides its options. */
export const RATE_LIMIT_OPTIONS = Symbol('RATE_LIMIT_OPTIONS');

/**
 * Rejects requests over the limit with a `RateLimitException`, an `HttpException` with status 429. Provide the guard as
 * `APP_GUARD` to limit all routes. Or select routes with `@UseGuards(RateLimitGuard)`.
 *
 * It limits the requests of Express and Fastify, the fields of GraphQL operations, and the messages of WebSocket gateways.
 * Messages of microservices fail with `ERR_ROLLGATE_UNSUPPORTED_OPERATION`, unless `@SkipRateLimit` exempts their handler.
 */
export class RateLimitGuard implements CanActivate {
  readonly #limiters: RouteLimiters;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(options: RateLimitModuleOptions) {
    this.#limiters = RouteLimiters.of(options);
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const limiter = this.#limiters.get(context.getClass(), context.getHandler() as Handler);
    const result: Awaitable<boolean> = limiter?.canActivate(context) ?? true;
    return result as boolean | Promise<boolean>;
  }

  /** Returns the limiter of a request's route, to peek or reset a key; `undefined` for a route without a limit. */
  limiterOf(context: ExecutionContext): RateLimiter | undefined;
  /**
   * Returns the limiter of any route, for example to unlock what another route has locked.
   *
   * @param type The class of the route.
   * @param method The name of its method.
   * @throws TypeError if the class has no such method.
   */
  limiterOf<Instance>(type: Type<Instance>, method: keyof Instance & string): RateLimiter | undefined;
  limiterOf(route: ExecutionContext | Type, method?: string): RateLimiter | undefined {
    const limiter =
      typeof route === 'function'
        ? this.#limiters.get(route, methodOf(route, method))
        : this.#limiters.get(route.getClass(), route.getHandler() as Handler);
    return limiter?.limiter;
  }
}
// As decorators do. Nest injects the options.
Injectable()(RateLimitGuard);
Inject(RATE_LIMIT_OPTIONS)(RateLimitGuard, undefined, 0);

/** A route's own limiter, that of the module, or `undefined` for a route without a limit. */
type RouteLimiter = NestLimiter | undefined;

const limitersOf = new WeakMap<RateLimitModuleOptions, RouteLimiters>();

/** The limiters of an app's routes. All guards of one module share them. */
export class RouteLimiters {
  readonly #options: RateLimitModuleOptions;
  readonly #byModule: RouteLimiter;
  readonly #byClass = new WeakMap<Type, NestLimiter>();
  /** By the method, then by its class, because classes may inherit a method. */
  readonly #byMethod = new WeakMap<Handler, WeakMap<Type, { readonly limiter: RouteLimiter }>>();
  #modules: ModulesContainer | undefined;

  private constructor(options: RateLimitModuleOptions) {
    this.#options = { store: new MemoryStore(), ...options };
    this.#byModule = hasLimits(options) ? new NestLimiter(this.#options) : undefined;
  }

  /**
   * Returns the limiters of the module with these options.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  static of(options: RateLimitModuleOptions): RouteLimiters {
    if (typeof options !== 'object' || options === null)
      throw invalidOption('RateLimitModule options', 'an object', options);
    return getOrInsert(limitersOf, options, () => new RouteLimiters(options));
  }

  /** Sets the app's modules, whose controllers may have the same name. */
  useModules(modules: ModulesContainer): void {
    this.#modules = modules;
  }

  /**
   * Creates the limiters of all decorated classes and methods of the app, so that invalid options fail its start.
   *
   * @throws TypeError with the name of the class or method whose options are invalid.
   */
  createAll(): void {
    for (const { controllers, providers } of this.#modules?.values() ?? []) {
      for (const { metatype } of [...controllers.values(), ...providers.values()]) {
        if (typeof metatype !== 'function') continue;
        const type = metatype as Type;
        const ofClass = readMetadata(type);
        // Without limits, the options are only for methods with their own.
        const isUsed = hasLimits({ ...this.#options, ...ofClass }) || hasUndecoratedRoute(type);
        if (ofClass && isUsed) this.#ofClass(type, ofClass);
        for (const method of limitedMethods(type)) this.get(type, method);
      }
    }
  }

  /**
   * Returns the limiter of a route. The first call for a route creates it.
   *
   * @throws TypeError with the name of the class or method whose options are invalid.
   */
  get(type: Type, method: Handler): RouteLimiter {
    const byType = getOrInsert(this.#byMethod, method, () => new WeakMap());
    return getOrInsert(byType, type, () => ({ limiter: this.#create(method, type) })).limiter;
  }

  #create(method: Handler, type: Type): RouteLimiter {
    const ofMethod = readMetadata(method);
    const ofClass = readMetadata(type);
    if (ofMethod === false) return undefined;
    if (ofMethod !== undefined) {
      const options = ofClass ? mergeOptions<RateLimitOptions>(ofClass, ofMethod) : ofMethod;
      return this.#createWith(options, type, method);
    }
    if (ofClass === false) return undefined;
    return ofClass === undefined ? this.#byModule : this.#ofClass(type, ofClass);
  }

  #ofClass(type: Type, options: RateLimitOptions): NestLimiter {
    return getOrInsert(this.#byClass, type, () => this.#createWith(options, type));
  }

  #createWith(options: RateLimitOptions, type: Type, method?: Handler): NestLimiter {
    const name = nameCount(type, method, this.#modules);
    const merged = mergeOptions<RateLimitOptions>(this.#options, options);
    const { prefix = 'rollgate', silence = [] } = merged;
    // The app has one limiter per route, even if the first request creates that of a module that was loaded later.
    const added: WarningCode = 'ROLLGATE_LIMITER_PER_REQUEST';
    const ownPrefix = options.prefix ?? `${prefix}:${name}`;
    try {
      return new NestLimiter({
        ...merged,
        prefix: ownPrefix,
        silence: Array.isArray(silence) ? [...silence, added] : silence,
      });
    } catch (cause) {
      const decorated = method === undefined ? type.name : `${type.name}.${nameMethod(type, method)}`;
      throw optionError(`@RateLimit of ${decorated}: ${(cause as Error).message}`, { cause });
    }
  }
}

const hasLimits = (options: RateLimitOptions): boolean =>
  ['limits', ...ROLLING_WINDOW_OPTIONS].some((name) => name in options);
