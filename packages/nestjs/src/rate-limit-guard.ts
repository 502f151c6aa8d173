import { type CanActivate, type ExecutionContext, Inject, Injectable, type Type } from '@nestjs/common';
import type { RateLimiter } from '@rollgate/core';
import type { Awaitable } from '@rollgate/http';
import type { RateLimitModuleOptions } from './options.js';
import { RouteLimiters } from './route-limiters.js';
import { type Handler, methodOf } from './route-names.js';

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
