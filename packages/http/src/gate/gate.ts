import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { isThenable, type ParsedLimits, warnOnce } from '@rollgate/core/store';
import { CLIENT_DISCONNECTED } from '../client/client-address.js';
import { hideStore, toError } from '../errors/errors.js';
import { mapWithTimeout } from '../errors/with-timeout.js';
import { RateLimitHeaders } from '../headers/rate-limit-headers.js';
import type { Host } from '../host/host.js';
import { limitsByName } from '../limits/limits-by-name.js';
import type { HttpOptions } from '../options/options.js';
import { type ResolvedHttpOptions, resolveHttpOptions, withAddress } from '../options/resolve-options.js';
import { mayRefund, refundByOptions } from '../refunds/refund-rules.js';
import { type DecidedRequest, decidedApart, decidedBy, expectOtherNames, putFirst } from '../refunds/settle.js';
import { type ResolvedMessage, resolveMessage, toRejection } from '../rejection/message-option.js';
import { validateStatus } from '../rejection/rejection.js';
import { type AllowedOutcome, type Outcome, type RejectedOutcome, toResponded } from './outcome.js';
import { type Checked, RequestChecker } from './request-checker.js';
import { publishRequest, requestChannel } from './request-event.js';

const EXEMPT: Outcome = { kind: 'exempt' };
const RESPONDED: Outcome = { kind: 'responded', allowed: undefined };

/**
 * Judges requests by the options of an adapter. It touches no response, so it is the same for every host. The adapter
 * applies the outcome.
 *
 * @typeParam Target What the host writes headers to.
 *
 * @example
 * ```ts
 * import { Gate, type Host } from '@rollgate/http';
 *
 * const HOST: Host<{ address: string }, never, Map<string, string>> = {
 *   name: 'rateLimit',
 *   ownOptions: [],
 *   resetUnit: 'delta',
 *   getClientAddress: (call) => call.address,
 *   getRequestHeader: () => undefined,
 *   isDisconnected: () => false,
 *   getSetHeader: (headers) => headers.set,
 *   getHeader: (headers, name) => headers.get(name),
 *   lowercaseHeaders: false,
 * };
 * const gate = new Gate(HOST, { limit: 1, window: '1m' });
 * (await gate.judge({ address: '192.0.2.1' })).kind; // => 'allowed'
 *
 * const outcome = await gate.judge({ address: '192.0.2.1' });
 * const headers = new Map<string, string>();
 * if (outcome.kind === 'rejected') gate.headers.write(headers, outcome);
 * headers.get('Retry-After'); // => '60'
 * ```
 */
export class Gate<Request, Response, Target = Response> {
  readonly #host: Host<Request, Response, Target>;
  readonly #checker: RequestChecker<Request>;
  readonly #getSettledRequest: ((request: Request) => object) | undefined;
  readonly #usesAddress: boolean;
  readonly #hasFixedLeases: boolean;
  readonly #mayRefund: boolean;
  /** The validated options, with their defaults. */
  readonly options: ResolvedHttpOptions<Request, Response>;
  /** Writes the headers of an outcome. */
  readonly headers: RateLimitHeaders<Target>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(given: Host<Request, Response, Target>, options: HttpOptions<Request, Limits, Response>) {
    const resolved = resolveHttpOptions(given, options);
    const host = withAddress(given, options);
    const { key, allowList, limits } = resolved;
    this.#host = host;
    this.#getSettledRequest = host.getSettledRequest ?? host.getOriginalRequest;
    this.options = host.hasHandler ? { ...resolved, message: {} } : resolved;
    this.headers = new RateLimitHeaders(host, resolved);
    this.#checker = new RequestChecker<Request>(host, resolved);
    this.#usesAddress = key === undefined || allowList !== undefined;
    this.#hasFixedLeases = limits.fixed !== undefined && takeLeases(limits.fixed);
    this.#mayRefund = mayRefund(resolved);
    if (limits.sample === undefined) expectOtherNames(resolved.limiter);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.options.limiter;
  }

  /**
   * Decides whether to allow a request, publishes the decision, calls `onLimited` and creates the rejection:
   *
   * | situation                                                     | outcome                                          |
   * | ------------------------------------------------------------- | ------------------------------------------------ |
   * | `allowList` or `skip` exempts the request                     | `exempt`                                         |
   * | the limiter allows it                                         | `allowed`                                        |
   * | the limiter rejects it                                        | `rejected`, after `onLimited` and `message`      |
   * | the limiter rejects it in a dry run                           | `allowed`, after `onLimited`                     |
   * | other code responds while the store or `onLimited` takes time | `responded`, without an event                     |
   * | an option function or the store fails                         | `failed`; in a dry run, a warning and `exempt`   |
   * | the client has disconnected and has no address any more       | `disconnected`                                   |
   *
   * @param response What other code may send until then, on hosts with `isResponseSent`.
   * @param apply Called once with the outcome, at once if the store and the option functions return at once.
   * @returns What `apply` returns, by default the outcome; otherwise a promise of it, which rejects only if `apply` throws.
   */
  judge<Result = Outcome>(
    request: Request,
    response?: Response,
    apply: (outcome: Outcome) => Awaitable<Result> = (outcome) => outcome as Awaitable<Result>,
  ): Awaitable<Result> {
    const checker = this.#checker;
    const isUsual = checker.countsByAddress && !requestChannel.hasSubscribers;
    const checked = isUsual ? checker.usual : { ...checker.usual };
    let decision: Awaitable<Decision | undefined>;
    try {
      const { usageChecks, limiter } = this.options;
      if (usageChecks.isInspecting) usageChecks.inspectRequest(this.#host, request, this.#usesAddress);
      decision = isUsual ? limiter.decide(checker.addressKey(request)) : checker.check(request, checked);
    } catch (thrown) {
      return apply(this.#fail(thrown));
    }
    if (isThenable(decision)) return this.#judgeLater(decision, checked, request, response, apply);
    const outcome = this.#conclude(decision, checked, request, response);
    return isThenable(outcome) ? outcome.then((known) => this.#applyLate(known, response, apply)) : apply(outcome);
  }

  #judgeLater<Result>(
    decision: PromiseLike<Decision | undefined>,
    checked: Checked,
    request: Request,
    response: Response | undefined,
    apply: (outcome: Outcome) => Awaitable<Result>,
  ): Promise<Result> {
    return Promise.resolve(decision).then(
      (known) => {
        const hasResponded = this.#hasResponded(response);
        if (hasResponded) {
          return apply({ kind: 'responded', allowed: known?.allowed ? this.#allow(known, checked) : undefined });
        }
        const outcome = this.#conclude(known, checked, request, response);
        return isThenable(outcome) ? outcome.then((late) => this.#applyLate(late, response, apply)) : apply(outcome);
      },
      (thrown) => this.#applyLate(this.#fail(thrown), response, apply),
    );
  }

  #applyLate<Result>(outcome: Outcome, response: Response | undefined, apply: (outcome: Outcome) => Result): Result {
    return apply(this.#hasResponded(response) ? toResponded(outcome) : outcome);
  }

  /**
   * Settles an allowed request whose response has ended: releases its leases, and refunds it if the options say so.
   *
   * @param status The status of the whole response; `undefined` if the client disconnected before its end. Then it needs
   * neither the request nor the response.
   * @param response `undefined` if the request failed without one.
   * @returns A promise that resolves when it has succeeded or failed.
   */
  settle(outcome: AllowedOutcome, status?: number, request?: Request, response?: Response): Promise<unknown> {
    const released = this.release(outcome);
    const refunded = refundByOptions(this.options, outcome.decision, status, request, response);
    return Promise.all([released, refunded]);
  }

  /**
   * Releases the leases of an allowed request, if its decision holds any.
   *
   * @returns A promise that resolves when it has succeeded or failed. In a store that fails, leases end by themselves.
   */
  async release({ decision, hasLeases }: AllowedOutcome): Promise<void> {
    try {
      if (hasLeases) await this.limiter.release(decision);
    } catch (error) {
      warnOnce('ROLLGATE_RELEASE_FAILED', `A release failed, so its leases end later: ${String(error)}`);
    }
  }

  /** Makes the outcome of a decision; of `undefined` for an exempt request. */
  #conclude(
    decision: Decision | undefined,
    checked: Checked,
    request: Request,
    response: Response | undefined,
  ): Outcome | Promise<Outcome> {
    try {
      const { dryRun, limiter } = this.options;
      if (decision === undefined || decision.allowed || dryRun) {
        // For `settle`, which can also settle an exempt request.
        const settled: DecidedRequest =
          this.#getSettledRequest === undefined ? (request as object) : this.#getSettledRequest(request);
        const isApart = this.#host.haveOwnClasses;
        const earlier = isApart ? decidedApart.get(settled) : settled[decidedBy];
        const last = { limiter, decision };
        const all = earlier === undefined ? [last] : putFirst(last, earlier);
        if (isApart) decidedApart.set(settled, all);
        else settled[decidedBy] = all;
      }
      if (decision === undefined) return EXEMPT;
      this.#host.attachDecision?.(request, decision);
      if (requestChannel.hasSubscribers) {
        const { key } = checked;
        // A subscriber that came while the store decided gets the next request.
        if (key !== undefined) publishRequest(this.#host, request, limiter, key, decision);
      }
      if (decision.allowed) return this.#allow(decision, checked);
      const outcome = this.#reject(decision, checked, request, response);
      return isThenable(outcome) ? Promise.resolve(outcome).catch((thrown) => this.#fail(thrown)) : outcome;
    } catch (thrown) {
      return this.#fail(thrown);
    }
  }

  #allow(decision: Decision, { limits, cost }: Checked): AllowedOutcome {
    const { fixed } = this.options.limits;
    const hasLeases = decision.allowed && (limits === fixed ? this.#hasFixedLeases : takeLeases(limits));
    const needsSettlement = hasLeases || (decision.allowed && this.#mayRefund);
    return { kind: 'allowed', decision, limits, cost, isDryRun: this.options.dryRun, hasLeases, needsSettlement };
  }

  /**
   * Makes a rejection. It has a method for each option that may be a function, in their order. A single method would create
   * their closures for each rejection, even if no option is a function.
   */
  #reject(decision: Decision, checked: Checked, request: Request, response: Response | undefined): Awaitable<Outcome> {
    const { onLimited, timeout } = this.options;
    if (onLimited === undefined) return this.#addStatus(decision, checked, request, response);
    return mapWithTimeout('onLimited', timeout, onLimited(request, decision, checked.key!), () =>
      this.#addStatus(decision, checked, request, response),
    );
  }

  #addStatus(
    decision: Decision,
    checked: Checked,
    request: Request,
    response: Response | undefined,
  ): Awaitable<Outcome> {
    const { dryRun, statusCode, timeout } = this.options;
    if (dryRun) return this.#allow(decision, checked);
    if (this.#hasResponded(response)) return RESPONDED;
    if (typeof statusCode === 'number') return this.#addMessage(statusCode, decision, checked, request);
    return mapWithTimeout('statusCode', timeout, statusCode(request, decision), (status) =>
      this.#addMessage(validateStatus('statusCode(request, decision)', status), decision, checked, request),
    );
  }

  #addMessage(status: number, decision: Decision, checked: Checked, request: Request): Awaitable<Outcome> {
    const { message, timeout } = this.options;
    if (message.forRequest === undefined) return this.#rejectWith(message, status, decision, checked, request);
    return mapWithTimeout('message', timeout, message.forRequest(request, decision), (returned) =>
      this.#rejectWith(resolveMessage(returned), status, decision, checked, request),
    );
  }

  #rejectWith(
    message: ResolvedMessage,
    status: number,
    decision: Decision,
    { limits, cost }: Checked,
    request: Request,
  ): RejectedOutcome {
    const accept = message.types && this.#host.getRequestHeader(request, 'accept');
    const rejection = toRejection(message, decision, status, this.options.problem, accept);
    return { kind: 'rejected', decision, limits, cost, rejection };
  }

  #fail(thrown: unknown): Outcome {
    const { dryRun, usageChecks } = this.options;
    if (thrown === CLIENT_DISCONNECTED) return { kind: 'disconnected', error: AbortSignal.abort().reason };
    if (!dryRun) return { kind: 'failed', error: hideStore(toError(thrown)) };
    usageChecks.reportFailure('ROLLGATE_DRY_RUN_FAILED', thrown);
    return EXEMPT;
  }

  #hasResponded(response: Response | undefined): boolean {
    return response !== undefined && this.#host.isResponseSent?.(response) === true;
  }
}

function takeLeases(limits: ParsedLimits): boolean {
  return Object.values(limitsByName(limits)).some(({ leaseMicros }) => leaseMicros);
}
