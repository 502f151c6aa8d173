import type { Decision, RateLimiter } from '@rollgate/core';
import { channel } from '@rollgate/core/store';

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

const requestChannel = channel('rollgate:request');

/** Publishes a {@link RequestEvent}. Builds it only if the channel has a subscriber. */
export function publishRequest(limiter: RateLimiter, request: object, decision: Decision, dryRun: boolean): void {
  if (!requestChannel.hasSubscribers) return;
  const event: RequestEvent = { limiter, request, decision, dryRun };
  requestChannel.publish(event);
}
