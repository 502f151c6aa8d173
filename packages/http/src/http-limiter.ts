import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import type { Adapter, Next } from './adapter.js';
import { DecisionApplier } from './decision-applier.js';
import { FailureHandler } from './failure-handler.js';
import type { Framework } from './framework.js';
import { resolveMessage, toRejection } from './message-option.js';
import type { HttpOptions } from './options.js';
import { RateLimitHeaders } from './rate-limit-headers.js';
import { createBodySerializer, isRejectionError, type Rejection } from './rejection.js';
import { RequestDecider } from './request-decider.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';
import { endIfStarted } from './response-lifecycle.js';
import { mapWithTimeout } from './with-timeout.js';

/**
 * Limits the requests of one adapter's middleware or hook.
 *
 * It awaits only what requires it. With a store in memory and option functions that return values, a request has continued
 * or been rejected when `run` returns.
 */
export class HttpLimiter<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  readonly #options: ResolvedOptions<Request, Response>;
  readonly #decider: RequestDecider<Request>;
  readonly #headers: RateLimitHeaders<Response>;
  readonly #applier: DecisionApplier<Request, Response>;
  readonly #failures: FailureHandler<Response>;
  readonly #usesAddress: boolean;
  /** Returns the default body of a rejection, as JSON with this message. */
  readonly serializeBody: (message: string) => string;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(
    framework: Framework<Request, Response>,
    options: HttpOptions<Request, Limits, Response>,
    adapter: Adapter<Request, Response>,
  ) {
    const resolved = resolveOptions(framework.name, options, framework.ownOptions, framework.resetUnit);
    const { headers, resetUnit, exposeHeaders, key, isOnAllowList } = resolved;
    this.#framework = framework;
    this.#options = resolved;
    this.serializeBody = createBodySerializer(resolved.statusCode);
    this.#usesAddress = key === undefined || isOnAllowList !== undefined;
    this.#headers = new RateLimitHeaders(framework, headers, resetUnit, exposeHeaders);
    this.#decider = new RequestDecider<Request>(framework, resolved);
    this.#failures = new FailureHandler<Response>(framework, resolved);
    this.#applier = new DecisionApplier(framework, adapter, resolved, this.#decider, this.#headers, this.#failures);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.#options.limiter;
  }

  /** The status of a rejection. */
  get statusCode(): number {
    return this.#options.statusCode;
  }

  /**
   * Decides a request. Then it calls `next`, or the adapter's `sendRejection`. A failure calls `next` with the error, once.
   * Neither is called if other code has responded before, or if the client of a delayed request disconnects.
   */
  run(request: Request, response: Response, next: Next): void {
    let decision: Awaitable<Decision | undefined>;
    try {
      this.#options.usageChecks.inspectRequest(this.#framework, request, this.#usesAddress);
      decision = this.#decider.decide(request);
    } catch (thrown) {
      this.#failures.handle(response, next, thrown);
      return;
    }
    if (isThenable(decision)) this.#applyLater(decision, request, response, next);
    else this.#applier.apply(decision, request, response, next);
  }

  /**
   * Removes the headers of a rejection, because the app's code continues with the request after all or fails. Keeps them if
   * `error` is a rejection itself, and if the response has started.
   *
   * @returns Whether it removed them.
   */
  withdrawRejection(response: Response, error?: unknown): boolean {
    const hasStarted = this.#framework.getNodeResponse(response).headersSent;
    if (hasStarted || isRejectionError(error, this.statusCode)) return false;
    this.#headers.withdrawRejection(response);
    return true;
  }

  /**
   * Ends a rejected request's response if it has started, because it can no longer carry a status or headers.
   *
   * @returns Whether it had started.
   */
  endIfStarted(response: Response): boolean {
    return endIfStarted(this.#framework.getNodeResponse(response));
  }

  /**
   * Creates the rejection of a request by the options `message` and `problem`.
   *
   * @throws The error of the `message` function, or a TypeError if it returns neither a string nor an object.
   */
  createRejection(request: Request, decision: Decision): Awaitable<Rejection> {
    const { message, problem, statusCode, timeoutMs } = this.#options;
    if (message.forRequest === undefined) return toRejection(message, decision, statusCode, problem);
    const value = message.forRequest(request, decision);
    return mapWithTimeout('message', timeoutMs, value, (resolved) =>
      toRejection(resolveMessage(resolved), decision, statusCode, problem),
    );
  }

  #applyLater(decision: PromiseLike<Decision | undefined>, request: Request, response: Response, next: Next): void {
    Promise.resolve(decision)
      .then((decided) => {
        if (this.#framework.isResponseSent(response)) this.#applier.applyAfterResponse(decided, request, response);
        else this.#applier.apply(decided, request, response, next);
      })
      .catch((thrown) => this.#failures.handleUnlessSent(response, next, thrown));
  }
}
