import type { Decision, RateLimiter } from '@rollgate/core';
import { refundInBackground, scheduleAfter } from '@rollgate/core/store';
import { type NodeResponse, whenGone } from './answer.js';

/**
 * Holds an accepted request until its turn in a queue: calls `goOn` once, in the caller's async context, when its
 * `delayMs` have passed. One that nobody waits for any more is let go at once, and what its check recorded is given back:
 * the client has left, or somebody else, a timeout perhaps, has answered.
 *
 * Not noticed is who leaves an HTTP/1 request with more unread body than Node buffers, about 64 kB: Node has stopped
 * reading, and that the client has gone stands behind the rest of the body. Such a request goes on at its turn.
 *
 * A server that closes waits for those who are held as for any other request in progress.
 */
export function holdRequest(
  limiter: RateLimiter,
  response: NodeResponse,
  decision: Decision,
  isAnswered: () => boolean,
  goOn: () => void,
): void {
  const giveBack = () => refundInBackground(limiter, decision);
  let letGo = () => {};
  const stopWatching = whenGone(response, () => {
    letGo();
    giveBack();
  });
  if (stopWatching === undefined) return;
  letGo = scheduleAfter(decision.delayMs, () => {
    stopWatching();
    if (isAnswered()) giveBack();
    else goOn();
  });
}
