import type { Decision } from '@rollgate/core';
import type { CallRequest, ResponseHead } from '../dialects/dialect.js';
import { responses } from '../events.js';
import { ServerClock } from '../headers/server-clock.js';
import type { CallCost } from '../options/fetch-options.js';
import type { ResolvedOptions } from '../options/resolve-options.js';
import { type Report, readReport, readsBody } from '../reports/read-report.js';
import { createResponseHead, type HeaderReader } from '../reports/response-head.js';
import { waitAfter } from './backoff.js';
import { BoundedMap } from './bounded-map.js';
import { type CallPlan, CallPlanner } from './call-planner.js';
import { BUCKET_BLOCK, ROUTE_BLOCK } from './outgoing-limits.js';
import { Pauses } from './pauses.js';
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

/** A call that has started. */
export interface StartedCall {
  readonly plan: CallPlan;
  readonly attempt: number;
  readonly waitedMs: number;
  /** When it started, by the clock of the calls. */
  readonly sentMs: number;
  readonly decision: Decision;
}

/** The origins whose clocks are remembered. */
const MAX_CLOCKS = 1000;

/** Holds calls back until the API allows them, and learns from its responses. */
export class OutgoingCalls {
  readonly #options: ResolvedOptions;
  readonly #planner: CallPlanner;
  readonly #pauses: Pauses;
  readonly #waits: WaitEvents;
  readonly #ignoreSignal: () => void;
  /** By origin. */
  readonly #clocks = new BoundedMap<string, ServerClock>(MAX_CLOCKS);

  constructor(options: ResolvedOptions, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#planner = new CallPlanner(options);
    this.#pauses = new Pauses(options.clock);
    this.#waits = new WaitEvents(options);
    const close = () => this.close();
    signal?.addEventListener('abort', close);
    this.#ignoreSignal = () => signal?.removeEventListener('abort', close);
    if (signal?.aborted) close();
  }

  /** Ends all waits and rejects later calls. */
  close(): void {
    this.#options.limiter.close();
    this.#pauses.close();
    this.#ignoreSignal();
  }

  /**
   * Resolves when the call may be sent.
   *
   * @throws The reason of `signal` if it is aborted. A `TimeoutError` if the call would have to wait for more than `waitMs`. An error
   * if it is closed, or if the store fails.
   */
  async start(request: CallRequest, { attempt, waitMs, rejection, signal }: Attempt): Promise<StartedCall> {
    const { limiter, clock = performance } = this.#options;
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
    await this.#pauses.until(retryMs, signal).catch(async (reason) => {
      await limiter.refund(decision).catch(() => {});
      throw reason;
    });
    const sentMs = clock.now();
    return { plan, attempt, waitedMs: sentMs - startMs, sentMs, decision };
  }

  /** The option `cost` may take any time. */
  #plan(request: CallRequest, mostMs: number, signal: AbortSignal | undefined): Promise<CallPlan> {
    const plan = () => this.#planner.plan(request);
    return this.#options.cost === undefined ? plan() : this.#pauses.resultOf('cost', plan, mostMs, signal);
  }

  /** Whether a dialect needs the body of this response. */
  readsBody(head: ResponseHead): boolean {
    return readsBody(this.#options.dialects, head);
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
    const nowMs = this.#options.clock?.now() ?? Date.now();
    const clock = this.#clocks.get(origin) ?? new ServerClock();
    this.#clocks.set(origin, clock);
    // The `Date` of a response from a cache is that of another response.
    const date = Number(headers.get('age') ?? 0) > 0 ? undefined : (headers.get('date') ?? undefined);
    return createResponseHead(request, status, headers, clock.timeOf(date, nowMs));
  }

  /** Returns what a response reports. That of another server, after a redirection, concerns this call alone. */
  read(call: StartedCall, head: ResponseHead, isForeign = false): Report {
    const { dialects, maxBlockMs } = this.#options;
    const given = readReport(dialects, head, maxBlockMs);
    const read: Report = isForeign ? { ...given, quotas: [], cost: undefined, scope: 'call' } : given;
    const { isRejected, quotas } = read;
    const retryAfterMs = isRejected ? waitAfter(read.retryAfterMs, call.attempt, maxBlockMs) : undefined;
    if (responses.hasSubscribers) {
      const { attempt, waitedMs, plan } = call;
      const { request, bucket, route } = plan;
      const { status } = head;
      responses.publish({ request, bucket, route, status, attempt, waitedMs, isRejected, retryAfterMs, quotas });
    }
    return { ...read, retryAfterMs };
  }

  /**
   * Shares what a response reports, and closes the call. Never rejects, because the caller has a response, and the store publishes
   * its failures.
   *
   * @param cost The actual cost, if it is known.
   */
  async finish(call: StartedCall, report: Report, cost: CallCost = {}): Promise<void> {
    // The block comes first, because the end of the call may let another one start.
    await this.#block(call, report).catch(() => {});
    await this.#tell(call, report, cost).catch(() => this.fail(call, false));
  }

  /**
   * Closes a call that got no response.
   *
   * @param isUnsent Whether it surely has not reached the server. Otherwise, it counts as used.
   */
  async fail({ decision, plan }: StartedCall, isUnsent: boolean): Promise<void> {
    const { limiter, limits } = this.#options;
    const cost = { ...plan.cost, ...limits.freedSlots };
    const closed = isUnsent ? limiter.refund(decision) : limiter.settle(decision, { cost });
    await closed.catch(() => {}); // The caller gets the error of the connection.
  }

  async #block({ plan: { bucket, place } }: StartedCall, { scope, retryAfterMs = 0 }: Report): Promise<void> {
    if (retryAfterMs < 1 || scope === 'call') return;
    const key = scope === 'bucket' ? { [BUCKET_BLOCK]: bucket } : { [ROUTE_BLOCK]: place };
    await this.#options.limiter.block(key, retryAfterMs);
  }

  /** Closes the call. Units that the response does not report count as used. */
  async #tell({ plan, decision, sentMs }: StartedCall, report: Report, given: CallCost): Promise<void> {
    const { limiter, limits, clock = performance } = this.#options;
    const { told, others } = this.#planner.learn(plan, report);
    const cost = { ...plan.cost, ...this.#planner.ownCosts({ ...report.cost, ...given }), ...limits.freedSlots };
    if (Object.keys(told).length === 0) await limiter.settle(decision, { cost });
    else await limiter.tell(decision, { told, cost });
    if (others === undefined) return;
    const ageMs = clock.now() - sentMs;
    await limiter.tell(others.key, { told: others.told, limits: others.limits, ageMs });
  }
}
