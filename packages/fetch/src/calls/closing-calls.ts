import type { CallCost } from '../options/fetch-options.js';
import type { ResolvedFetchOptions } from '../options/resolve-options.js';
import type { Report } from '../reports/read-report.js';
import type { CallPlanner, Learned } from './call-planner.js';
import { BUCKET_BLOCK, ROUTE_BLOCK } from './outgoing-limits.js';
import type { StartedCall } from './started-call.js';

type OpenCall = Pick<StartedCall, 'plan' | 'decision'>;

/**
 * Closes calls, and shares what their responses report. Its methods send this to the store at once, so that it comes before the next
 * check of this process. They never reject, because the store publishes its failures.
 */
export class ClosingCalls {
  /** What the store has not confirmed yet. */
  readonly #pending = new Set<Promise<void>>();

  constructor(
    private readonly options: ResolvedFetchOptions,
    private readonly planner: CallPlanner,
  ) {}

  /**
   * Shares what a response reports, and closes the call.
   *
   * @param keepOpen Whether the call stays open for {@link settle}, except in the quotas of the server.
   */
  finish(call: StartedCall, report: Report, keepOpen = false): Promise<void> {
    return this.#track(this.#finish(call, report, keepOpen));
  }

  /** Closes a call that {@link finish} has kept open, with the actual cost. */
  settle({ plan, decision }: OpenCall, report: Report, actual: CallCost): Promise<void> {
    const cost = this.#costOf(plan, { ...report.cost, ...actual });
    return this.#track(this.options.limiter.settle(decision, { cost }));
  }

  /**
   * Closes a call that got no response.
   *
   * @param isUnsent Whether it surely has not reached the server. Otherwise, it counts as used.
   */
  fail({ plan, decision }: OpenCall, isUnsent: boolean): Promise<void> {
    const { limiter } = this.options;
    const cost = this.#costOf(plan, {});
    return this.#track(isUnsent ? limiter.refund(decision) : limiter.settle(decision, { cost }));
  }

  /** Resolves when the store has confirmed all that has been sent to it, or has failed. */
  async confirmed(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #track(sent: Promise<void>): Promise<void> {
    const done = sent.catch(() => {}).finally(() => this.#pending.delete(done));
    this.#pending.add(done);
    return done;
  }

  async #finish(call: StartedCall, report: Report, keepOpen: boolean): Promise<void> {
    try {
      const learned = this.planner.learn(call.plan, report);
      const blocked = this.#block(call, report);
      // The block comes first, because the end of the call may let another one start.
      if (blocked !== undefined) await blocked.catch(() => {});
      await this.#share(call, report, learned, keepOpen);
    } catch {
      if (!keepOpen) await this.fail(call, false);
    }
  }

  #block(
    { plan: { bucket, routeKey } }: StartedCall,
    { scope, retryAfterMs = 0 }: Report,
  ): Promise<unknown> | undefined {
    if (retryAfterMs < 1 || scope === 'call') return undefined;
    const key = scope === 'bucket' ? { [BUCKET_BLOCK]: bucket } : { [ROUTE_BLOCK]: routeKey };
    return this.options.limiter.block(key, retryAfterMs);
  }

  /** Shares the numbers of a response. Units that it does not report count as used. */
  async #share(
    { plan, decision, sentMs }: StartedCall,
    report: Report,
    { reported, others }: Learned,
    keepOpen: boolean,
  ): Promise<void> {
    const { limiter, clock = performance } = this.options;
    const cost = keepOpen ? this.#quotaCostOf(plan) : this.#costOf(plan, report.cost ?? {});
    const sent: Promise<void>[] = [];
    if (others !== undefined) {
      const { key, ...numbers } = others;
      sent.push(limiter.report(key, { ...numbers, ageMs: clock.now() - sentMs }));
    }
    if (keepOpen || Object.keys(reported).length > 0) sent.push(limiter.report(decision, { reported, cost, keepOpen }));
    else sent.push(limiter.settle(decision, { cost }));
    await Promise.all(sent);
  }

  /** What a call has cost in the quotas of the server. */
  #quotaCostOf({ cost }: StartedCall['plan']): Record<string, number> {
    return Object.fromEntries(Object.entries(cost).filter(([name]) => !this.options.ownLimits.includes(name)));
  }

  /** What a call has cost in all limits. Its slots become free. */
  #costOf(plan: StartedCall['plan'], actual: CallCost): Record<string, number> {
    return { ...plan.cost, ...this.planner.ownCosts(actual), ...this.options.limits.freedSlots };
  }
}
