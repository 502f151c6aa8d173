import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { type Decision, hold, type RateLimiter, toGiveBack } from '@rollgate/core';
import { onClose } from './close-listeners.js';

/** Node's own response, which every framework has somewhere. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

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
  const giveBack = toGiveBack(limiter, decision);
  // A response of HTTP/1 that is behind others in a pipeline learns nothing of its socket, nor does one of HTTP/2 to a
  // HEAD request of its stream.
  const watched = [response, isHttp2(response) ? response.stream : response.req.socket];
  if (watched.some(({ destroyed }: { destroyed?: boolean }) => destroyed)) {
    giveBack();
    return;
  }
  const letGo = hold(decision.delayMs, () => {
    stopWatching();
    if (isAnswered()) giveBack();
    else goOn();
  });
  const stops = watched.map((emitter) =>
    onClose(emitter, () => {
      letGo();
      stopWatching();
      giveBack();
    }),
  );
  function stopWatching() {
    for (const stop of stops) stop();
  }
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse {
  return response.req.httpVersionMajor === 2;
}
