import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { RateLimiter } from '@rollgate/core';
import type { Awaitable } from '@rollgate/http';
import type { RateLimitModuleOptions } from './options.js';
import { RouteLimiters } from './route-limiters.js';

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
    const result: Awaitable<boolean> = this.#limiters.get(context)?.canActivate(context) ?? true;
    return result as boolean | Promise<boolean>;
  }

  /** Returns the limiter of a request's route, to peek or reset a key; `undefined` for a route without a limit. */
  limiterOf(context: ExecutionContext): RateLimiter | undefined {
    return this.#limiters.get(context)?.limiter;
  }
}
// As decorators do. Nest injects the options.
Injectable()(RateLimitGuard);
Inject(RATE_LIMIT_OPTIONS)(RateLimitGuard, undefined, 0);
