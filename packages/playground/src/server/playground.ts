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

/** One window for all who come. */
const SHARED_KEY = 'everybody';
const REQUESTS = 'rollgate:request';

/** Redis is away. What this server's memory counted in its place is reset all the same. */
class ResetError extends Error {
  override readonly name = 'ResetError';
  /** For the HTTP response. */
  readonly status = 503;

  constructor(cause: Error) {
    super(
      `Redis did not confirm the reset: ${cause.message}. ` +
        'The memory of this server, which decides during an outage of Redis, is empty now.',
      { cause },
    );
  }
}

/** The limiter that everybody plays with, the fixed window that is asked beside it, and the record of what they said. */
export class Playground {
  readonly book = new RecordBook({ settings: DEFAULT_SETTINGS, countedFromMs: 0 });
  /** Lets requests through or rejects them, by the settings of the moment. */
  readonly middleware: RateLimitMiddleware;
  readonly #backend: Backend;
  readonly #fixed: RateLimiter;
  /** Made once for all requests until the settings change. */
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
    this.book.listen((news) => {
      if (news.kind !== 'state') return;
      this.#limits = toLimits(news.state.settings);
      this.#fixedLimits = toFixedLimits(news.state.settings);
    });
  }

  /** @throws Error when what is shared with other servers cannot be read. */
  async open(): Promise<void> {
    subscribe(REQUESTS, this.#onRequest);
    await this.#backend.open((news) => this.book.hear(news));
  }

  async close(): Promise<void> {
    unsubscribe(REQUESTS, this.#onRequest);
    await this.#backend.close();
  }

  now(): number {
    return this.#backend.clock.now();
  }

  /** What the next request would meet. */
  async next(): Promise<Next> {
    const { allowed, retryAfterMs, limits } = await this.middleware.limiter.peek(SHARED_KEY, { limits: this.#limits });
    const nowMs = this.now(); // Of after the answer: so nobody is told to come too early.
    const heldMs = allowed ? Math.max(0, ...Object.values(limits).map(({ delayMs }) => delayMs)) : 0;
    return { allowedAtMs: nowMs + retryAfterMs, turnAtMs: nowMs + retryAfterMs + heldMs };
  }

  /**
   * Sets the limit for everybody. Another limit or distance is in force at once, and what was counted counts on; another
   * window or algorithm starts afresh, so that what the page counts is what the limiter remembers.
   *
   * @throws ResetError when Redis does not confirm that; then the settings stay.
   */
  async change(settings: Settings): Promise<void> {
    const { settings: before, countedFromMs } = this.book.state;
    const startsAfresh = settings.algorithm !== before.algorithm || settings.windowMs !== before.windowMs;
    if (startsAfresh) await this.#reset(toLimits(settings), toFixedLimits(settings));
    const state = { settings, countedFromMs: startsAfresh ? this.now() : countedFromMs };
    await this.#backend.publish({ kind: 'state', state, forgets: false });
  }

  /**
   * Begins afresh.
   *
   * @throws ResetError when Redis does not confirm it.
   */
  async forget(): Promise<void> {
    const { settings } = this.book.state;
    await this.#reset(this.#limits, this.#fixedLimits);
    await this.#backend.publish({ kind: 'state', state: { settings, countedFromMs: this.now() }, forgets: true });
  }

  /** @throws ResetError when Redis does not confirm it. */
  async #reset(limits: Limits, fixedLimits: Limits): Promise<void> {
    const results = await Promise.allSettled([
      this.middleware.limiter.reset(SHARED_KEY, { limits }),
      this.#fixed.reset(SHARED_KEY, { limits: fixedLimits }), // Also when the first one fails: both count from one moment.
    ]);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw new ResetError(failure.reason as Error);
  }

  readonly #onRequest = (message: unknown): void => {
    const { limiter, request, decision } = message as { limiter: unknown; request: Request; decision: Decision };
    if (limiter !== this.middleware.limiter) return;
    this.#attempts += 1;
    const id = `${this.#name}-${this.#attempts}`;
    const noted = this.#note(id, decision, this.now());
    if (decision.delayMs === 0) return;
    request.res?.once('close', async () => {
      await noted;
      if (!request.res?.headersSent) this.#backend.publish({ kind: 'left', id });
    });
  };

  async #note(id: string, decision: Decision, atMs: number): Promise<void> {
    const fixed = await this.#fixed.check(SHARED_KEY, { limits: this.#fixedLimits });
    const { allowed, delayMs, limit, remaining, degraded } = decision;
    const attempt = {
      ...{ id, atMs, delayMs, allowed, fixedAllowed: fixed.allowed },
      ...{ limit, remaining, degraded: degraded !== false },
    };
    void this.#backend.publish({ kind: 'attempt', attempt });
  }
}
