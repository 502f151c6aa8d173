import { channel } from 'node:diagnostics_channel';
import type { Decision, RateLimiter } from '@rollgate/core';

/** Published on the channel `rollgate:request` for every request that an adapter has decided. */
export interface RequestEvent {
  readonly limiter: RateLimiter;
  /** The framework's own request, from which to tell its route. */
  readonly request: unknown;
  readonly decision: Decision;
  /** Whether the request passes whatever was decided. */
  readonly dryRun: boolean;
}

const requests = channel('rollgate:request');

/** Tells whoever listens; nothing is built when nobody does. */
export function publishRequest(limiter: RateLimiter, request: unknown, decision: Decision, dryRun: boolean): void {
  if (!requests.hasSubscribers) return;
  const event: RequestEvent = { limiter, request, decision, dryRun };
  requests.publish(event);
}
