import type { Decision, RateLimiter } from '@rollgate/core';
import { refundInBackground, scheduleAfter } from '@rollgate/core/store';
import type { NodeResponse } from './adapter.js';
import { onDisconnect } from './response-lifecycle.js';

/**
 * Delays an accepted request until its start. It calls `proceed` once after the decision's `delayMs`, in the caller's async
 * context. If the client disconnects or other code, such as a timeout, responds before, it refunds the request and calls
 * `onDrop` instead.
 *
 * Over HTTP/1, Node stops reading once about 64 kB of a request's body are unread. It then cannot detect a disconnect, so
 * such a request proceeds at its start.
 *
 * A closing server waits for delayed requests as for any others.
 */
export function delayRequest(
  limiter: RateLimiter,
  response: NodeResponse,
  decision: Decision,
  isResponseSent: () => boolean,
  proceed: () => void,
  onDrop: () => void,
): void {
  const drop = () => {
    refundInBackground(limiter, decision);
    onDrop();
  };
  let cancel = () => {};
  const stopWatching = onDisconnect(response, () => {
    cancel();
    drop();
  });
  if (stopWatching === undefined) return;
  const onStart = () => {
    stopWatching();
    if (isResponseSent()) drop();
    else proceed();
  };
  cancel = scheduleAfter(decision.delayMs, onStart, limiter.clock);
}
