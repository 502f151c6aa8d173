import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import { Gate } from '../gate/gate.js';
import type { HttpOptions } from '../options/options.js';
import { isRejectionError, type Rejection } from '../rejection/rejection.js';
import type { Adapter, Next } from './decision-actions.js';
import { DecisionApplier } from './decision-applier.js';
import { FailureHandler } from './failure-handler.js';
import type { Framework } from './framework.js';
import { endIfStarted } from './response-lifecycle.js';
import { withdrawRejection } from './withdraw-rejection.js';

/**
 * Limits the requests of one adapter's middleware or hook, on a host with Node's responses.
 *
 * It awaits only what requires it. With a store in memory and option functions that return values, a request has continued
 * or been rejected when `run` returns.
 */
export class HttpLimiter<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  /** Decides the requests. */
  readonly gate: Gate<Request, Response>;
  readonly #applier: DecisionApplier<Request, Response>;
  readonly #failures: FailureHandler<Response>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(
    framework: Framework<Request, Response>,
    options: HttpOptions<Request, Limits, Response>,
    adapter: Adapter<Request, Response>,
  ) {
    this.#framework = framework;
    this.gate = new Gate<Request, Response>(framework, options);
    this.#failures = new FailureHandler<Response>(framework, this.gate.options);
    this.#applier = new DecisionApplier(framework, adapter, this.gate, this.#failures);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.gate.limiter;
  }

  /** The status of a rejection. */
  get statusCode(): number {
    return this.gate.statusCode;
  }

  /** Returns the default body of a rejection, as JSON with this message. */
  get serializeBody(): (message: string) => string {
    return this.gate.serializeBody;
  }

  /**
   * Decides a request. Then it calls `next`, or the adapter's `sendRejection`. A failure calls `next` with the error, once.
   * Neither is called if other code has responded before, or if the client of a delayed request disconnects.
   */
  run(request: Request, response: Response, next: Next): void {
    let decision: Awaitable<Decision | undefined>;
    try {
      decision = this.gate.decide(request);
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
    withdrawRejection(this.#framework, response);
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
    return this.gate.createRejection(request, decision);
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
