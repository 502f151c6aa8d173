import type { CallCost } from '../options/fetch-options.js';
import type { ResolvedOptions } from '../options/resolve-options.js';
import type { Report } from '../reports/read-report.js';
import type { CallPlanner } from './call-planner.js';
import { BUCKET_BLOCK, ROUTE_BLOCK } from './outgoing-limits.js';
import type { StartedCall } from './started-call.js';

/** Closes calls, and shares what their responses report. Its methods never reject, because the store publishes its failures. */
export class ClosingCalls {
  readonly #options: ResolvedOptions;
  readonly #planner: CallPlanner;

  constructor(options: ResolvedOptions, planner: CallPlanner) {
    this.#options = options;
    this.#planner = planner;
  }

  /**
   * Shares what a response reports, and closes the call.
   *
   * @param keepOpen Whether the call stays open for {@link settle}, except in the quotas that the response reports.
   */
  async finish(call: StartedCall, report: Report, keepOpen = false): Promise<void> {
    // The block comes first, because the end of the call may let another one start.
    await this.#block(call, report).catch(() => {});
    const told = this.#tell(call, report, keepOpen);
    await (keepOpen ? told.catch(() => {}) : told.catch(() => this.fail(call, false)));
  }

  /** Closes a call that {@link finish} has kept open, with the actual cost. */
  async settle({ plan, decision }: StartedCall, report: Report, actual: CallCost): Promise<void> {
    const cost = this.#costOf(plan, { ...report.cost, ...actual });
    await this.#options.limiter.settle(decision, { cost }).catch(() => {});
  }

  /**
   * Closes a call that got no response.
   *
   * @param isUnsent Whether it surely has not reached the server. Otherwise, it counts as used.
   */
  async fail({ plan, decision }: StartedCall, isUnsent: boolean): Promise<void> {
    const { limiter } = this.#options;
    const closed = isUnsent ? limiter.refund(decision) : limiter.settle(decision, { cost: this.#costOf(plan, {}) });
    await closed.catch(() => {}); // The caller gets the error of the connection.
  }

  async #block({ plan: { bucket, place } }: StartedCall, { scope, retryAfterMs = 0 }: Report): Promise<void> {
    if (retryAfterMs < 1 || scope === 'call') return;
    const key = scope === 'bucket' ? { [BUCKET_BLOCK]: bucket } : { [ROUTE_BLOCK]: place };
    await this.#options.limiter.block(key, retryAfterMs);
  }

  /** Shares the numbers of a response. Unless the call stays open, units that the response does not report count as used. */
  async #tell({ plan, decision, sentMs }: StartedCall, report: Report, keepOpen: boolean): Promise<void> {
    const { limiter, clock = performance } = this.#options;
    const { told, others } = this.#planner.learn(plan, report);
    const cost = keepOpen ? {} : this.#costOf(plan, report.cost ?? {});
    if (Object.keys(told).length > 0) await limiter.tell(decision, { told, cost, keepOpen });
    else if (!keepOpen) await limiter.settle(decision, { cost });
    if (others === undefined) return;
    const ageMs = clock.now() - sentMs;
    await limiter.tell(others.key, { told: others.told, limits: others.limits, ageMs });
  }

  /** What a call has cost in all limits. Its slots become free. */
  #costOf(plan: StartedCall['plan'], actual: CallCost): Record<string, number> {
    return { ...plan.cost, ...this.#planner.ownCosts(actual), ...this.#options.limits.freedSlots };
  }
}
