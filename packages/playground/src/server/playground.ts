import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Decision, type Limits, RateLimiter } from '@rollgate/core';
import { type RateLimitMiddleware, rateLimit } from '@rollgate/express';
import type { Request } from 'express';
import type { Next } from '../shared/protocol.js';
import { DEFAULT_SETTINGS, type Settings } from '../shared/settings.js';
import type { Backend } from './backend.js';
import { RecordBook } from './records.js';
import { toFixedLimits, toLimits } from './settings.js';

/** All clients share one window. */
const SHARED_KEY = 'everyone';
const REQUESTS = 'rollgate:request';

/** Redis did not confirm a reset. The memory of this server was reset. */
class ResetError extends Error {
  override readonly name = 'ResetError';
  /** The status of the HTTP response. */
  readonly status = 503;

  constructor(cause: Error) {
    super(
      `Redis did not confirm the reset: ${cause.message}. ` +
        'The memory of this server, which decides during an outage of Redis, is empty now.',
      { cause },
    );
  }
}

/** The shared limiter, a fixed window that checks the same requests, and the record of their decisions. */
export class Playground {
  readonly book = new RecordBook({ settings: DEFAULT_SETTINGS, countedFromMs: 0 });
  /** Limits requests by the current settings. */
  readonly middleware: RateLimitMiddleware;
  readonly #backend: Backend;
  readonly #fixed: RateLimiter;
  /** Created again only when the settings change. */
  #limits = toLimits(DEFAULT_SETTINGS);
  #fixedLimits = toFixedLimits(DEFAULT_SETTINGS);
  readonly #name = randomBytes(4).toString('hex');
  #attempts = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
    const { store } = backend;
    this.middleware = rateLimit({
      limits: () => this.#limits,
      key: () => SHARED_KEY,
      store,
      prefix: 'rollgate-playground',
      headers: 'all',
    });
    this.#fixed = new RateLimiter({
      limits: null,
      store,
      prefix: 'rollgate-playground-fixed',
      onStoreError: 'fallback',
    });
    this.book.subscribe((event) => {
      if (event.kind !== 'state') return;
      this.#limits = toLimits(event.state.settings);
      this.#fixedLimits = toFixedLimits(event.state.settings);
    });
  }

  /** @throws Error if the backend cannot be read. */
  async open(): Promise<void> {
    subscribe(REQUESTS, this.#onRequest);
    await this.#backend.open((event) => this.book.record(event));
  }

  async close(): Promise<void> {
    unsubscribe(REQUESTS, this.#onRequest);
    await this.#backend.close();
  }

  now(): number {
    return this.#backend.clock.now();
  }

  /** Returns when the next request would be allowed. */
  async next(): Promise<Next> {
    const { allowed, retryAfterMs, limits } = await this.middleware.limiter.peek(SHARED_KEY, { limits: this.#limits });
    const nowMs = this.now(); // The time after the response, so that no client retries too early.
    const delayMs = allowed ? Math.max(0, ...Object.values(limits).map(({ delayMs }) => delayMs)) : 0;
    return { allowedAtMs: nowMs + retryAfterMs, startsAtMs: nowMs + retryAfterMs + delayMs };
  }

  /**
   * Changes the settings for all users. A new limit or distance applies at once, and existing counts remain. A new window or
   * algorithm starts over, so that the page and the limiter count the same requests.
   *
   * @throws ResetError if Redis does not confirm the reset. Then the settings stay.
   */
  async change(settings: Settings): Promise<void> {
    const { settings: before, countedFromMs } = this.book.state;
    const startsOver = settings.algorithm !== before.algorithm || settings.windowMs !== before.windowMs;
    if (startsOver) await this.#reset(toLimits(settings), toFixedLimits(settings));
    const state = { settings, countedFromMs: startsOver ? this.now() : countedFromMs };
    await this.#backend.publish({ kind: 'state', state, clears: false });
  }

  /**
   * Deletes all requests.
   *
   * @throws ResetError if Redis does not confirm the reset.
   */
  async clear(): Promise<void> {
    const { settings } = this.book.state;
    await this.#reset(this.#limits, this.#fixedLimits);
    await this.#backend.publish({ kind: 'state', state: { settings, countedFromMs: this.now() }, clears: true });
  }

  /** @throws ResetError if Redis does not confirm the reset. */
  async #reset(limits: Limits, fixedLimits: Limits): Promise<void> {
    const results = await Promise.allSettled([
      this.middleware.limiter.reset(SHARED_KEY, { limits }),
      this.#fixed.reset(SHARED_KEY, { limits: fixedLimits }), // Even if the first one fails, so that both count from the same moment.
    ]);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw new ResetError(failure.reason as Error);
  }

  readonly #onRequest = (message: unknown): void => {
    const { limiter, request, decision } = message as { limiter: unknown; request: Request; decision: Decision };
    if (limiter !== this.middleware.limiter) return;
    this.#attempts += 1;
    const id = `${this.#name}-${this.#attempts}`;
    const recorded = this.#record(id, decision, this.now());
    if (decision.delayMs === 0) return;
    request.res?.once('close', async () => {
      await recorded;
      if (!request.res?.headersSent) this.#backend.publish({ kind: 'aborted', id });
    });
  };

  async #record(id: string, decision: Decision, atMs: number): Promise<void> {
    const fixed = await this.#fixed.check(SHARED_KEY, { limits: this.#fixedLimits });
    const { allowed, delayMs, limit, remaining, degraded } = decision;
    const attempt = {
      ...{ id, atMs, delayMs, allowed, fixedAllowed: fixed.allowed },
      ...{ limit, remaining, degraded: degraded !== false },
    };
    void this.#backend.publish({ kind: 'attempt', attempt });
  }
}
