import type { Decision, RateLimiter } from '@rollgate/core';
import { channel } from '@rollgate/core/store';
import { originalRequest, type RequestReader } from '../host/host.js';

/** The event on the channel `rollgate:request`. Each limiter of an adapter publishes one for every request that it decides. */
export interface RequestEvent {
  /** The `RateLimiter` that made the decision. */
  readonly limiter: RateLimiter;
  /** The framework's request object, for example to find its route. */
  readonly request: unknown;
  /** The decision, the same object that the handler gets. */
  readonly decision: Decision;
  /** Whether the request continues even if it is rejected. */
  readonly dryRun: boolean;
}

/** Check `hasSubscribers` before {@link publishRequest}. */
export const requestChannel: ReturnType<typeof channel> = channel('rollgate:request');

/** Publishes a {@link RequestEvent}. */
export function publishRequest<Request>(
  reader: RequestReader<Request>,
  request: Request,
  limiter: RateLimiter,
  decision: Decision,
  dryRun: boolean,
): void {
  const event: RequestEvent = { limiter, request: originalRequest(reader, request), decision, dryRun };
  requestChannel.publish(event);
}
