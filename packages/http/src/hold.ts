import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { type Decision, hold, type RateLimiter } from '@rollgate/core';
import { onClose } from './close-listeners.js';

/** Node's own response, which every framework has somewhere. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/**
 * The accepted requests that wait for their turn in a queue. One that nobody waits for any more is let go at once, and
 * what its check recorded is given back: the client has left, or somebody else, a timeout perhaps, has answered.
 *
 * A server that closes waits for those who are held as for any other request in progress.
 */
export class HeldRequests {
  readonly #limiter: RateLimiter;
  #toGiveBack: Decision[] = [];

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  /** Calls `goOn` once, in the caller's async context, when `delayMs` have passed, unless nobody waits by then. */
  hold(response: NodeResponse, decision: Decision, isAnswered: () => boolean, goOn: () => void): void {
    // A response of HTTP/1 that is behind others in a pipeline learns nothing of its socket, nor does one of HTTP/2 to a
    // HEAD request of its stream.
    const watched = [response, isHttp2(response) ? response.stream : response.req.socket];
    if (watched.some(({ destroyed }: { destroyed?: boolean }) => destroyed)) {
      this.#giveBack(decision);
      return;
    }
    const letGo = hold(decision.delayMs, () => {
      stopWatching();
      if (isAnswered()) this.#giveBack(decision);
      else goOn();
    });
    const stops = watched.map((emitter) =>
      onClose(emitter, () => {
        letGo();
        stopWatching();
        this.#giveBack(decision);
      }),
    );
    function stopWatching() {
      for (const stop of stops) stop();
    }
  }

  /**
   * Those who leave together, the requests of a connection that is lost, in the reverse order: for a queue takes back only
   * its last place.
   */
  #giveBack(decision: Decision): void {
    if (this.#toGiveBack.push(decision) > 1) return;
    queueMicrotask(() => {
      const decisions = this.#toGiveBack;
      this.#toGiveBack = [];
      // Nobody is there to be told of a failure, and the store's own diagnostics tell it.
      for (const one of decisions.reverse()) this.#limiter.refund(one).catch(() => {});
    });
  }
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse {
  return response.req.httpVersionMajor === 2;
}
