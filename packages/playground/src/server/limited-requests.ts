import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Decision, Store } from '@rollgate/core';
import { type RateLimitMiddleware, rateLimit } from '@rollgate/express';
import type { Request } from 'express';
import { type Playground, PREFIX, SHARED_KEY } from '../engine/playground.js';
import { RUN_HEADER } from './http-send.js';

const REQUEST_CHANNEL = 'rollgate:request';

/** The real middleware of @rollgate/express, whose decisions the playground records. */
export class LimitedRequests {
  readonly middleware: RateLimitMiddleware;
  readonly #playground: Playground;
  readonly #onExternalRequest: () => void;

  /** @param onExternalRequest Called for each request that no run of a scenario sent, such as one by curl. */
  constructor(playground: Playground, store: Store, onExternalRequest: () => void) {
    this.#playground = playground;
    this.#onExternalRequest = onExternalRequest;
    this.middleware = rateLimit({
      limits: () => playground.limit,
      key: () => SHARED_KEY,
      store,
      prefix: PREFIX,
      headers: 'all',
    });
    subscribe(REQUEST_CHANNEL, this.#onRequest);
  }

  close(): void {
    unsubscribe(REQUEST_CHANNEL, this.#onRequest);
  }

  readonly #onRequest = (message: unknown): void => {
    const { limiter, request, decision } = message as { limiter: unknown; request: Request; decision: Decision };
    if (limiter !== this.middleware.limiter) return;
    const run = request.get(RUN_HEADER);
    if (run === undefined) this.#onExternalRequest();
    const abort = this.#playground.record(decision, run);
    if (decision.delayMs === 0) return;
    request.res?.once('close', () => {
      if (!request.res?.headersSent) abort();
    });
  };
}
