import type { Decision, Key, LimitDecision, LimiterEvent, RateLimiter } from '@rollgate/core';
import { channel, identify, violatedLimits } from '@rollgate/core/store';
import { originalRequest, type RequestReader } from '../host/host.js';

/** The event on the channel `rollgate:request`. Each limiter of an adapter publishes one for every request that it decides. */
export interface RequestEvent extends LimiterEvent<RateLimiter> {
  /** The framework's request object, for example to find its route. */
  readonly request: unknown;
  /** What the request counts for, as the methods of the limiter take it. */
  readonly key: Key;
  /** The decision, the same object that the handler gets. */
  readonly decision: Decision;
  /** The results of the limits that rejected the request, by name. Empty if it was allowed. */
  readonly violatedLimits: Readonly<Record<string, LimitDecision>>;
}

/** Check `hasSubscribers` before {@link publishRequest}. */
export const requestChannel: ReturnType<typeof channel> = channel('rollgate:request');

/** Publishes a {@link RequestEvent}. */
export function publishRequest<Request>(
  reader: RequestReader<Request>,
  request: Request,
  limiter: RateLimiter,
  key: Key,
  decision: Decision,
): void {
  const event: RequestEvent = {
    ...identify(limiter),
    request: originalRequest(reader, request),
    key,
    decision,
    violatedLimits: violatedLimits(decision),
  };
  requestChannel.publish(event);
}
