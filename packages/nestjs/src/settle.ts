import type { ExecutionContext } from '@nestjs/common';
import type { Limits } from '@rollgate/core';
import { hasMethods } from '@rollgate/core/store';
import { type SettleRequestOptions, settle as settleRequest } from '@rollgate/http';
import { findMessage, originalRequest } from './nest-framework.js';

/**
 * Replaces the cost that the limiters of a request have recorded with its actual cost. If that is lower, the difference is
 * refunded. If it is higher, the difference is recorded now, even if the limit has no room for it.
 *
 * Without `limiter`, each limiter takes the names that it has. A limiter can settle a request once. Settling a request that
 * is exempt, or that the limiter has not counted, does nothing.
 *
 * @param request The request of Express or Fastify. For an operation over a WebSocket, the GraphQL context. Or any
 * `ExecutionContext` of the call, as interceptors and parameter decorators get it. A message of a gateway has nothing else,
 * so exception filters cannot settle it.
 * @throws TypeError, RangeError for an invalid option, or a name that no limit of the request has. `StoreError` if a store
 * fails and `onStoreError` is `'throw'`. The promise rejects with it.
 *
 * @example
 * ```ts
 * import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
 * import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
 * import { RateLimit, settle } from '@rollgate/nestjs';
 *
 * const Context = createParamDecorator((_, context: ExecutionContext) => context);
 *
 * @WebSocketGateway()
 * class CompletionGateway {
 *   @SubscribeMessage('complete')
 *   @RateLimit({ limit: 10_000, window: '1m', cost: 2_000 })
 *   async complete(@Context() context: ExecutionContext) {
 *     const reply = { text: 'hello', tokens: 1_250 };
 *     await settle(context, { cost: reply.tokens });
 *     return { event: 'completed', data: reply.text };
 *   }
 * }
 * ```
 */
export async function settle<Given extends Limits = Limits>(
  request: object,
  options: SettleRequestOptions<Given>,
): Promise<void> {
  return settleRequest(isContext(request) ? settledBy(request) : request, options);
}

const isContext = (request: object): request is ExecutionContext => hasMethods(request, ['getType', 'getArgs']);

/** A message without a limit has nothing to settle, as its context. */
const settledBy = (context: ExecutionContext): object =>
  context.getType() === 'ws' ? (findMessage(context) ?? context) : originalRequest(context);
