import { getOrCache } from '@rollgate/core/store';
import type { CallRequest, ResponseHead } from '../dialects/dialect.js';
import { responses } from '../events.js';
import { RemoteClock } from '../headers/remote-clock.js';
import type { ResolvedFetchOptions } from '../options/resolve-options.js';
import { type Report, readReport, readsBody } from '../reports/read-report.js';
import { createResponseHead, type HeaderReader } from '../reports/response-head.js';
import { type CallPlan, CallPlanner } from './call-planner.js';
import { ClosingCalls } from './closing-calls.js';
import { Pauses } from './pauses.js';
import type { StartedCall } from './started-call.js';
import { WaitEvents } from './wait-events.js';

/** When an attempt of a call may start. */
export interface Attempt {
  /** From 1. */
  readonly attempt: number;
  /** How long the attempt may wait, in milliseconds. */
  readonly waitMs: number;
  /** The rejection that it follows. */
  readonly rejection: Report | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Holds calls back until the API allows them, and learns from its responses. */
export class OutgoingCalls {
  /** Closes the calls that this has started. */
  readonly closing: ClosingCalls;
  readonly #planner: CallPlanner;
  readonly #pauses: Pauses;
  readonly #waits: WaitEvents;
  readonly #ignoreSignal: () => void;
  /** By origin. */
  readonly #clocks = new Map<string, RemoteClock>();

  constructor(
    private readonly options: ResolvedFetchOptions,
    signal: AbortSignal | undefined,
  ) {
    this.#planner = new CallPlanner(options);
    this.closing = new ClosingCalls(options, this.#planner);
    this.#pauses = new Pauses(options.clock);
    this.#waits = new WaitEvents(options);
    const close = () => void this.close();
    signal?.addEventListener('abort', close);
    this.#ignoreSignal = () => signal?.removeEventListener('abort', close);
    if (signal?.aborted) close();
  }

  /** Ends all waits and rejects later calls. Resolves when the store has what the responses have reported. */
  async close(): Promise<void> {
    void this.options.limiter.close();
    this.#pauses.close();
    this.#ignoreSignal();
    await this.closing.confirmed();
  }

  /**
   * Resolves when the call may be sent.
   *
   * @throws The reason of `signal` if it is aborted. A `TimeoutError` if the call would have to wait for more than `waitMs`. An error
   * if it is closed, or if the store fails.
   */
  async start(request: CallRequest, { attempt, waitMs, rejection, signal }: Attempt): Promise<StartedCall> {
    const { limiter, clock = performance } = this.options;
    const startMs = clock.now();
    const retryMs = startMs + (rejection?.retryAfterMs ?? 0);
    if (rejection?.scope === 'call') {
      const { retryAfterMs = 0 } = rejection;
      if (this.#waits.hasSubscribers && retryAfterMs > 0) {
        this.#waits.publish({
          request,
          ...this.#planner.bucketAndRouteOf(request),
          waitMs: retryAfterMs,
          violated: [],
        });
      }
      // No block is in the way of a call that waits alone.
      await this.#pauses.until(retryMs, signal);
    }
    const restMs = () => Math.max(1, Math.ceil(waitMs - (clock.now() - startMs)));
    const plan = await this.#plan(request, restMs(), signal);
    const { key, cost, limits } = plan;
    const waiting = limiter.wait(key, { cost, limits, timeout: restMs(), signal });
    if (this.#waits.hasSubscribers) void this.#waits.publishIfWaiting(plan, waiting);
    const decision = await waiting;
    // The store may not have kept the block of the rejection.
    await this.#pauses.until(retryMs, signal).catch((reason) => {
      void this.closing.fail({ plan, decision }, true);
      throw reason;
    });
    const sentMs = clock.now();
    return { plan, attempt, waitedMs: sentMs - startMs, sentMs, decision };
  }

  /** The option `cost` may take any time. */
  #plan(request: CallRequest, mostMs: number, signal: AbortSignal | undefined): Promise<CallPlan> {
    const plan = () => this.#planner.plan(request);
    return this.options.cost === undefined ? plan() : this.#pauses.resultOf('cost', plan, mostMs, signal);
  }

  /** Whether a dialect needs the body of this response. */
  readsBody(head: ResponseHead): boolean {
    return readsBody(this.options.dialects, head);
  }

  /**
   * Creates what the dialects read. Call it when the response arrives.
   *
   * @param origin The server that has sent it, perhaps after a redirection.
   */
  headOf(
    { plan: { request } }: StartedCall,
    status: number,
    headers: HeaderReader,
    origin = request.url.origin,
  ): ResponseHead {
    const nowMs = this.options.clock?.now() ?? Date.now();
    const steadyMs = this.options.clock?.now() ?? performance.now();
    const clock = getOrCache(this.#clocks, origin, () => new RemoteClock());
    // The `Date` of a response from a cache is that of another response.
    const date = isStored(headers.get('age')) ? undefined : (headers.get('date') ?? undefined);
    return createResponseHead(request, status, headers, clock.timeOf(date, nowMs, steadyMs));
  }

  /**
   * Returns what a response reports. That of another server, after a redirection, concerns this call alone. The quotas in a response
   * from a cache are those of an earlier time.
   */
  read(call: StartedCall, head: ResponseHead, isForeign = false): Report {
    const { dialects, maxBlockMs } = this.options;
    const given = readReport(dialects, head, maxBlockMs);
    const isOld = isStored(head.header('age')) && !given.isRejected;
    const quotas = isForeign || isOld ? [] : given.quotas;
    const read: Report = { ...given, quotas, ...(isForeign && { cost: undefined, scope: 'call' }) };
    const { isRejected } = read;
    const retryAfterMs = isRejected ? waitAfter(read.retryAfterMs, call.attempt, maxBlockMs) : undefined;
    if (responses.hasSubscribers) {
      const { attempt, waitedMs, plan } = call;
      const { request, bucket, route } = plan;
      const { status } = head;
      responses.publish({ request, bucket, route, status, attempt, waitedMs, isRejected, retryAfterMs, quotas });
    }
    return { ...read, retryAfterMs };
  }
}

/** Whether a response with this header `Age` comes from a cache. */
function isStored(age: string | null | undefined): boolean {
  return Number.parseFloat(age ?? '0') > 0;
}

/** The wait after the first rejection that reports none. It doubles with each attempt of a call. */
const FIRST_MS = 1000;
const MOST_MS = 60_000;

/**
 * Returns for how long calls stop after a rejection. If the server reports no wait, they back off. They also do so if it demands
 * none and rejects the next attempt again.
 */
export function waitAfter(reportedMs: number | undefined, attempt: number, maxBlockMs: number): number {
  if (reportedMs !== undefined && (reportedMs > 0 || attempt === 1)) return reportedMs;
  return Math.min(maxBlockMs, MOST_MS, FIRST_MS * 2 ** (attempt - 1));
}
