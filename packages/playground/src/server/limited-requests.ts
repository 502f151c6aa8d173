import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Decision, Store } from '@rollgate/core';
import { type RateLimitMiddleware, rateLimit } from '@rollgate/express';
import type { Request } from 'express';
import { type Playground, PREFIX, SHARED_KEY } from '../engine/playground.js';
import { RUN_HEADER } from './http-send.js';

const REQUESTS = 'rollgate:request';

/** The real middleware of @rollgate/express, whose decisions the playground records. */
export class LimitedRequests {
  readonly middleware: RateLimitMiddleware;
  readonly #playground: Playground;
  readonly #onOutside: () => void;

  /** @param onOutside Called for each request that no run of a scenario sent, such as one by curl. */
  constructor(playground: Playground, store: Store, onOutside: () => void) {
    this.#playground = playground;
    this.#onOutside = onOutside;
    this.middleware = rateLimit({
      limits: () => playground.limit,
      key: () => SHARED_KEY,
      store,
      prefix: PREFIX,
      headers: 'all',
    });
    subscribe(REQUESTS, this.#onRequest);
  }

  close(): void {
    unsubscribe(REQUESTS, this.#onRequest);
  }

  readonly #onRequest = (message: unknown): void => {
    const { limiter, request, decision } = message as { limiter: unknown; request: Request; decision: Decision };
    if (limiter !== this.middleware.limiter) return;
    const run = request.get(RUN_HEADER);
    if (run === undefined) this.#onOutside();
    const abort = this.#playground.record(decision, run);
    if (decision.delayMs === 0) return;
    request.res?.once('close', () => {
      if (!request.res?.headersSent) abort();
    });
  };
}
