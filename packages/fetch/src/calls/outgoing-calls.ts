import type { Decision } from '@rollgate/core';
import type { CallRequest, ResponseHead } from '../dialects/dialect.js';
import { responses, type WaitEvent, waits } from '../events.js';
import { ServerClock } from '../headers/server-clock.js';
import type { CallCost } from '../options/fetch-options.js';
import type { ResolvedOptions } from '../options/resolve-options.js';
import { type Report, readReport } from '../reports/read-report.js';
import { createResponseHead, type HeaderReader } from '../reports/response-head.js';
import { backoffMs, exhaustedMs } from './backoff.js';
import { BoundedMap } from './bounded-map.js';
import { BUCKET_BLOCK, ROUTE_BLOCK } from './outgoing-limits.js';
import { pause } from './pause.js';

/** When an attempt of a call may start. */
export interface Attempt {
  /** From 1. */
  readonly attempt: number;
  /** How long the attempt may wait, in milliseconds. */
  readonly waitMs: number;
  /** How long it has to wait, whatever other calls do. */
  readonly pauseMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A call that has started. */
export interface StartedCall {
  readonly request: CallRequest;
  readonly bucket: string;
  readonly route: string;
  readonly attempt: number;
  readonly waitedMs: number;
  readonly decision: Decision;
}

/** The origins whose clocks are remembered. */
const MAX_CLOCKS = 1000;

/** Holds calls back until the API allows them, and learns from its responses. */
export class OutgoingCalls {
  readonly #options: ResolvedOptions;
  readonly #closing = new AbortController();
  /** By origin. */
  readonly #clocks = new BoundedMap<string, ServerClock>(MAX_CLOCKS);

  constructor(options: ResolvedOptions, signal: AbortSignal | undefined) {
    this.#options = options;
    if (signal?.aborted) this.close();
    else signal?.addEventListener('abort', () => this.close(), { once: true });
  }

  /** Ends all waits and rejects later calls. */
  close(): void {
    this.#options.limiter.close();
    this.#closing.abort();
  }

  /**
   * Resolves when the call may be sent.
   *
   * @throws The reason of `signal` if it is aborted. A `TimeoutError` if the call would have to wait for more than `waitMs`. An error
   * if it is closed, or if the store fails.
   */
  async start(request: CallRequest, { attempt, waitMs, pauseMs, signal }: Attempt): Promise<StartedCall> {
    const { limiter, dialects, clock = performance } = this.#options;
    const bucket = this.#options.bucket(request);
    const route = dialects.find(({ routeOf }) => routeOf !== undefined)?.routeOf?.(request) ?? '';
    const key = this.#keysOf(request, bucket, route);
    const cost = (await this.#options.cost?.(request)) ?? {};
    const ownCost = this.#ownCosts(cost);
    const startMs = clock.now();
    await pause(pauseMs, [signal, this.#closing.signal], this.#options.clock);
    if (this.#options.onWait !== undefined || waits.hasSubscribers)
      this.#publishWait({ request, bucket, route }, await limiter.peek(key, { cost: ownCost }));
    const timeout = Math.max(1, Math.floor(waitMs - pauseMs));
    const decision = await limiter.wait(key, { cost: ownCost, timeout, signal });
    return { request, bucket, route, attempt, waitedMs: clock.now() - startMs, decision };
  }

  /** Whether a dialect needs the body of this response. */
  readsBody(head: ResponseHead): boolean {
    return this.#options.dialects.some((dialect) => dialect.readsBody?.(head));
  }

  /** Creates what the dialects read. Call it when the response arrives. */
  headOf({ request }: StartedCall, status: number, headers: HeaderReader): ResponseHead {
    const { origin } = request.url;
    const clock = this.#clocks.get(origin) ?? new ServerClock();
    this.#clocks.set(origin, clock);
    return createResponseHead(request, status, headers, clock.timeOf(headers.get('date') ?? undefined, Date.now()));
  }

  /** Returns what a response reports. */
  read(call: StartedCall, head: ResponseHead): Report {
    const { dialects, maxBlockMs } = this.#options;
    const read = readReport(dialects, head, maxBlockMs);
    const { isRejected, quotas } = read;
    const retryAfterMs = isRejected ? (read.retryAfterMs ?? Math.min(backoffMs(call.attempt), maxBlockMs)) : undefined;
    if (responses.hasSubscribers) {
      const { request, bucket, route, attempt, waitedMs } = call;
      const { status } = head;
      responses.publish({ request, bucket, route, status, attempt, waitedMs, isRejected, retryAfterMs, quotas });
    }
    return { ...read, retryAfterMs };
  }

  /**
   * Shares what a response reports. Never rejects, because the caller has a response, and the store publishes its failures.
   */
  async finish(call: StartedCall, report: Report): Promise<void> {
    await this.#learn(call, report).catch(() => {});
  }

  /**
   * Ends a call that got no response.
   *
   * @param isUnsent Whether it surely has not reached the server, so that it used nothing.
   */
  async fail({ decision }: StartedCall, isUnsent: boolean): Promise<void> {
    if (isUnsent) await this.#options.limiter.refund(decision).catch(() => {}); // The caller gets the error of the connection.
  }

  #keysOf(request: CallRequest, bucket: string, route: string): Record<string, string> {
    const given = this.#options.key?.(request) ?? {};
    const own = this.#options.ownLimits.map((name) => [name, given[name] ?? bucket]);
    return { ...Object.fromEntries(own), [BUCKET_BLOCK]: bucket, [ROUTE_BLOCK]: `${bucket} ${route}` };
  }

  async #learn({ bucket, route, decision }: StartedCall, report: Report): Promise<void> {
    const { limiter } = this.#options;
    if (report.cost !== undefined) await limiter.settle(decision, { cost: this.#ownCosts(report.cost) });
    const blockMs = report.retryAfterMs ?? exhaustedMs(report);
    if (blockMs < 1 || report.scope === 'call') return;
    const key = report.scope === 'bucket' ? { [BUCKET_BLOCK]: bucket } : { [ROUTE_BLOCK]: `${bucket} ${route}` };
    await limiter.block(key, blockMs);
  }

  /** The costs of the limits that the user has passed. */
  #ownCosts(cost: CallCost): Record<string, number> {
    return Object.fromEntries(Object.entries(cost).filter(([name]) => this.#options.ownLimits.includes(name)));
  }

  #publishWait(call: Pick<WaitEvent, 'request' | 'bucket' | 'route'>, decision: Decision): void {
    if (decision.allowed) return;
    const event: WaitEvent = { ...call, waitMs: decision.retryAfterMs, violated: decision.violated };
    this.#options.onWait?.(event);
    waits.publish(event);
  }
}
