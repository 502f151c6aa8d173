import type { ExecutionContext } from '@nestjs/common';
import type { Limits } from '@rollgate/core';
import type { NodeResponse, PartialOptions } from '@rollgate/http';

/** The response of Express, or the reply of Fastify. */
export interface NestResponse {
  /** Node's response behind Fastify's reply. */
  readonly raw?: NodeResponse;
  /** Whether a Fastify reply has been sent. */
  readonly sent?: boolean;
}

/** The options that only this adapter has. */
interface OwnOptions {
  /**
   * Returns the client's address.
   *
   * @defaultValue `request.ip` of Express or Fastify. For a WebSocket, the address of its connection
   */
  address?: ((context: ExecutionContext) => string | undefined) | undefined;
}

/** The options of {@link RateLimit}. They inherit those of the module. */
export type RateLimitOptions<Given extends Limits = Limits> = PartialOptions<ExecutionContext, Given, NestResponse> &
  OwnOptions;

/**
 * The options of the module. `limit` and `window`, or `limits`, apply to all routes without their own `@RateLimit`, which
 * share one count. Without them, only routes with `@RateLimit` are limited.
 */
export type RateLimitModuleOptions<Given extends Limits = Limits> = RateLimitOptions<Given>;
