import type { Decision, RateLimiter } from '@rollgate/core';
import { refundInBackground, scheduleAfter } from '@rollgate/core/store';
import type { NodeResponse } from './framework.js';
import { onDisconnect } from './response-lifecycle.js';

/**
 * Delays an accepted request until its slot in a queue. It calls `proceed` once after the decision's `delayMs`, in the
 * caller's async context. If the client disconnects or other code, such as a timeout, responds before, it refunds the slot
 * instead.
 *
 * Over HTTP/1, Node stops reading once about 64 kB of a request's body are unread. It then cannot detect a disconnect, so
 * such a request proceeds at its slot.
 *
 * A closing server waits for delayed requests as for any others.
 */
export function delayRequest(
  limiter: RateLimiter,
  response: NodeResponse,
  decision: Decision,
  isResponseSent: () => boolean,
  proceed: () => void,
): void {
  const refund = () => refundInBackground(limiter, decision);
  let cancel = () => {};
  const stopWatching = onDisconnect(response, () => {
    cancel();
    refund();
  });
  if (stopWatching === undefined) return;
  const onSlot = () => {
    stopWatching();
    if (isResponseSent()) refund();
    else proceed();
  };
  cancel = scheduleAfter(decision.delayMs, onSlot, limiter.clock);
}
