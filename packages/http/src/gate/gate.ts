import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { holdsSlots, isThenable, mapAwaitable } from '@rollgate/core/store';
import { type Host, originalRequest } from '../base/host.js';
import { limitsByName } from '../base/limits-by-name.js';
import { toError } from '../base/to-error.js';
import { mapWithTimeout } from '../base/with-timeout.js';
import { RateLimitHeaders } from '../headers/rate-limit-headers.js';
import type { HttpOptions } from '../options/options.js';
import { type ResolvedOptions, resolveOptions } from '../options/resolve-options.js';
import { rememberDecision } from '../refunds/settle.js';
import { resolveMessage, toRejection } from '../rejection/message-option.js';
import { createBodySerializer, type Rejection } from '../rejection/rejection.js';
import { CLIENT_DISCONNECTED, RequestDecider } from './request-decider.js';
import { publishRequest } from './request-event.js';

/** What to do with a request. */
export type Outcome =
  /** Continue. `allowList` or `skip` exempts the request. */
  | {
      /** The request is exempt. */
      readonly kind: 'exempt';
    }
  /** Continue, after the decision's `delayMs` unless this is a dry run. A dry run continues with rejected requests, too. */
  | {
      /** The request continues. */
      readonly kind: 'allowed';
      /** The decision, which the handler can read. */
      readonly decision: Decision;
      /** Whether the option `dryRun` lets the request continue without headers and delays. */
      readonly isDryRun: boolean;
    }
  /** Respond with the rejection. */
  | {
      /** The request ends here. */
      readonly kind: 'rejected';
      /** The decision, with the wait and the violated limits. */
      readonly decision: Decision;
      /** The body to send. */
      readonly rejection: Rejection;
    };

const EXEMPT: Outcome = { kind: 'exempt' };

/**
 * Decides requests by the options of an adapter: from the request to the decision, its headers and its rejection. It
 * touches no response, so it is the same for every host. The adapter applies the outcome.
 *
 * @typeParam Target What the host writes headers to.
 */
export class Gate<Request, Response, Target = Response> {
  readonly #host: Host<Request, Target>;
  readonly #decider: RequestDecider<Request>;
  readonly #headers: RateLimitHeaders<Target>;
  readonly #usesAddress: boolean;
  readonly #hasFixedSlots: boolean;
  /** The validated options, with their defaults. */
  readonly options: ResolvedOptions<Request, Response>;
  /** Returns the default body of a rejection, as JSON with this message. */
  readonly serializeBody: (message: string) => string;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(host: Host<Request, Target>, options: HttpOptions<Request, Limits, Response>) {
    const resolved = resolveOptions(host.name, options, host.ownOptions, host.resetUnit);
    const { headers, resetUnit, exposeHeaders, key, isOnAllowList } = resolved;
    this.#host = host;
    this.options = resolved;
    this.serializeBody = createBodySerializer(resolved.statusCode);
    this.#usesAddress = key === undefined || isOnAllowList !== undefined;
    this.#hasFixedSlots = resolved.limits.fixed !== undefined && hasSlots(resolved.limits.fixed);
    this.#headers = new RateLimitHeaders(host, headers, resetUnit, exposeHeaders);
    this.#decider = new RequestDecider<Request>(host, resolved);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.options.limiter;
  }

  /** The status of a rejection. */
  get statusCode(): number {
    return this.options.statusCode;
  }

  /**
   * Decides a request.
   *
   * @returns The decision; `undefined` for a request that `allowList` or `skip` exempts.
   * @throws The error of an option function, or `CLIENT_DISCONNECTED`. A promise rejects with them.
   */
  decide(request: Request): Awaitable<Decision | undefined> {
    this.options.usageChecks.inspectRequest(this.#host, request, this.#usesAddress);
    return this.#decider.decide(request);
  }

  /** Publishes the decision about a request, if there is a subscriber, and remembers it for `settle`. */
  publish(request: Request, decision: Decision): void {
    const { dryRun, limiter } = this.options;
    publishRequest(limiter, originalRequest(this.#host, request), decision, dryRun);
    if (decision.allowed || dryRun) this.#remember(request, decision);
  }

  /** Whether the decision holds slots of a `concurrency` limit, which the response's end has to release. */
  hasSlots(decision: Decision): boolean {
    if (!decision.allowed) return false;
    return this.options.limits.fixed === undefined ? hasSlots(this.#decider.getLimits(decision)) : this.#hasFixedSlots;
  }

  /** Remembers a request that `allowList` or `skip` exempts, so that it can be settled, too. */
  exempt(request: Request): void {
    this.#remember(request, undefined);
  }

  #remember(request: Request, decision: Decision | undefined): void {
    const settled = this.#host.getSettledRequest?.(request) ?? originalRequest(this.#host, request);
    (this.#host.rememberDecision ?? rememberDecision)(settled, this.limiter, decision);
  }

  /**
   * Decides a request, publishes the decision, calls `onLimited` and creates the rejection. For hosts that wait for the
   * outcome before anything else can respond.
   *
   * In a dry run, it warns about a failure and continues.
   *
   * @throws The error of an option function, or an `AbortError` if the client has disconnected and has no address any more.
   * A promise rejects with it.
   */
  judge(request: Request): Awaitable<Outcome> {
    try {
      const outcome = mapAwaitable(this.decide(request), (decision) => this.#toOutcome(request, decision));
      return isThenable(outcome) ? Promise.resolve(outcome).catch((thrown) => this.#fail(thrown)) : outcome;
    } catch (thrown) {
      return this.#fail(thrown);
    }
  }

  #toOutcome(request: Request, decision: Decision | undefined): Awaitable<Outcome> {
    if (decision === undefined) {
      this.exempt(request);
      return EXEMPT;
    }
    this.publish(request, decision);
    const { dryRun, onLimited, timeoutMs } = this.options;
    if (decision.allowed) return { kind: 'allowed', decision, isDryRun: dryRun };
    const called = onLimited?.(request, decision);
    return mapWithTimeout('onLimited', timeoutMs, called, () =>
      dryRun
        ? { kind: 'allowed', decision, isDryRun: true }
        : mapAwaitable(this.createRejection(request, decision), (rejection): Outcome => {
            return { kind: 'rejected', decision, rejection };
          }),
    );
  }

  #fail(thrown: unknown): Outcome {
    const isDisconnected = thrown === CLIENT_DISCONNECTED;
    if (!this.options.dryRun) {
      throw isDisconnected ? AbortSignal.abort().reason : toError(thrown);
    }
    if (!isDisconnected) this.options.usageChecks.reportFailure('ROLLGATE_DRY_RUN_FAILED', thrown);
    return EXEMPT;
  }

  /** Writes the headers of a decision. `isEarly` leaves out the names of exposed headers, which need the response. */
  writeHeaders(target: Target, decision: Decision, isEarly?: boolean): void {
    this.#headers.write(target, decision, this.#decider.getLimits(decision));
    if (!isEarly) this.exposeHeaders(target);
  }

  /** With the option `exposeHeaders`, adds the names of the headers to those that the response exposes. */
  exposeHeaders(target: Target): void {
    this.#headers.expose(target);
  }

  /**
   * Creates the rejection of a request by the options `message` and `problem`.
   *
   * @throws The error of the `message` function, or a TypeError if it returns neither a string nor an object.
   */
  createRejection(request: Request, decision: Decision): Awaitable<Rejection> {
    const { message, problem, statusCode, timeoutMs } = this.options;
    if (message.forRequest === undefined) return toRejection(message, decision, statusCode, problem);
    const value = message.forRequest(request, decision);
    return mapWithTimeout('message', timeoutMs, value, (resolved) =>
      toRejection(resolveMessage(resolved), decision, statusCode, problem),
    );
  }
}

function hasSlots(limits: Limits): boolean {
  return Object.values(limitsByName(limits)).some(holdsSlots);
}
