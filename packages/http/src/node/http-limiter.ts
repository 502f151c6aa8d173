import type { Limits, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground } from '@rollgate/core/store';
import { toError } from '../base/to-error.js';
import { Gate } from '../gate/gate.js';
import { type AllowedOutcome, type Outcome, type RejectedOutcome, toResponded } from '../gate/outcome.js';
import type { HttpOptions } from '../options/options.js';
import { isRejectionError } from '../rejection/http-error.js';
import type { Rejection } from '../rejection/rejection.js';
import type { Adapter, Framework, HeaderEditor, Next, NodeResponse } from './adapter.js';
import { delayRequest } from './delay-request.js';
import { NODE_HEADERS } from './node-headers.js';
import { omitFromRedirects } from './omit-from-redirects.js';
import { endIfStarted, onResponseFinished } from './response-lifecycle.js';
import { rememberCacheControl, withdrawRejection } from './withdraw-rejection.js';

/** Where a framework keeps the headers of a response: in its own object, or in Node's. */
type HeaderTarget<Response> = Response | NodeResponse;

/**
 * Limits the requests of one adapter's middleware or hook, on a host with Node's responses.
 *
 * It awaits only what requires it. With a store in memory and option functions that return values, a request has continued
 * or been rejected when `run` returns.
 *
 * @example
 * ```ts
 * import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
 * import { type Framework, HttpLimiter, sendRejection } from '@rollgate/http';
 *
 * const NODE: Framework<IncomingMessage, ServerResponse> = {
 *   name: 'rateLimit',
 *   ownOptions: [],
 *   resetUnit: 'epoch',
 *   getClientAddress: (request) => request.socket.remoteAddress,
 *   getRequestHeader: (request, name) => request.headers[name],
 *   getProxyTrust: () => 'none',
 *   isDisconnected: (request) => request.socket.destroyed,
 *   getNodeResponse: (response) => response,
 * };
 * const httpLimiter = new HttpLimiter(
 *   NODE,
 *   { limit: 100, window: '1m' },
 *   {
 *     attachDecision() {}, // An adapter puts the decision on the request here.
 *     sendRejection(request, response, next, _decision, rejection) {
 *       sendRejection(response, request.headers.accept, rejection, next);
 *     },
 *   },
 * );
 * const server = createServer((request, response) => {
 *   httpLimiter.run(request, response, (error) => response.end(error?.message ?? 'hello'));
 * });
 * ```
 */
export class HttpLimiter<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  readonly #adapter: Adapter<Request, Response>;
  readonly #headers: HeaderEditor<HeaderTarget<Response>>;
  readonly #hasOwnHeaders: boolean;
  readonly #isResponseSent: (response: Response) => boolean;
  /** Judges the requests. */
  readonly gate: Gate<Request, Response, HeaderTarget<Response>>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(
    framework: Framework<Request, Response>,
    options: HttpOptions<Request, Limits, Response>,
    adapter: Adapter<Request, Response>,
  ) {
    const { headers = NODE_HEADERS, getNodeResponse } = framework;
    const isResponseSent = framework.isResponseSent ?? ((response) => getNodeResponse(response).writableEnded);
    this.#framework = framework;
    this.#adapter = adapter;
    this.#headers = headers as HeaderEditor<HeaderTarget<Response>>;
    this.#hasOwnHeaders = headers !== NODE_HEADERS;
    this.#isResponseSent = isResponseSent;
    const attachDecision = adapter.attachDecision.bind(adapter);
    const hasHandler = adapter.hasHandler ?? false;
    this.gate = new Gate({ ...framework, ...this.#headers, attachDecision, isResponseSent, hasHandler }, options);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.gate.limiter;
  }

  /**
   * Judges a request. Then it calls `next`, or the adapter's `sendRejection`. A failure calls `next` with the error, once.
   * Neither is called if other code has responded before, or if the client of a delayed request disconnects.
   */
  run(request: Request, response: Response, next: Next): void {
    const outcome = this.gate.judge(request, response);
    if (isThenable(outcome)) this.#applyLater(outcome, request, response, next);
    else this.#apply(outcome, request, response, next);
  }

  /**
   * Removes the headers and the status of a rejection, because the app's handler continues with the request after all or
   * fails. Keeps them if `error` is a rejection itself, and if the response has started.
   *
   * @returns Whether it removed them.
   */
  withdrawRejection(response: Response, { status }: Rejection, error?: unknown): boolean {
    const nodeResponse = this.#framework.getNodeResponse(response);
    if (nodeResponse.headersSent || isRejectionError(error, status)) return false;
    withdrawRejection(this.#headers, this.#hasOwnHeaders ? response : nodeResponse);
    if (nodeResponse.statusCode === status) nodeResponse.statusCode = 200;
    return true;
  }

  /**
   * Calls the app's own handler for a rejected request. If it fails, this withdraws the rejection and passes the error on.
   * A response that the handler has started ends instead.
   *
   * @param onFailure Called with the error, and with whether the rejection was withdrawn. What it throws rejects the promise.
   */
  async callHandler(
    response: Response,
    rejection: Rejection,
    handler: () => unknown,
    onFailure: (error: Error, isWithdrawn: boolean) => void,
  ): Promise<void> {
    try {
      await handler();
    } catch (thrown) {
      if (this.endIfStarted(response)) return;
      const error = toError(thrown);
      onFailure(error, this.withdrawRejection(response, rejection, error));
    }
  }

  /**
   * Ends a rejected request's response if it has started, because it can no longer carry a status or headers.
   *
   * @returns Whether it had started.
   */
  endIfStarted(response: Response): boolean {
    return endIfStarted(this.#framework.getNodeResponse(response));
  }

  #applyLater(later: PromiseLike<Outcome>, request: Request, response: Response, next: Next): void {
    Promise.resolve(later)
      .then((outcome) => {
        const known = this.#isResponseSent(response) ? toResponded(outcome) : outcome;
        this.#apply(known, request, response, next);
      })
      .catch((thrown) => {
        if (!this.#isResponseSent(response)) this.#fail(toError(thrown), response, next);
      });
  }

  #apply(outcome: Outcome, request: Request, response: Response, next: Next): void {
    switch (outcome.kind) {
      case 'exempt':
        next();
        break;
      case 'allowed':
        this.#allow(outcome, request, response, next);
        break;
      case 'rejected':
        this.#reject(outcome, request, response, next);
        break;
      case 'responded':
        if (outcome.allowed !== undefined) this.#free(outcome.allowed, request, response);
        break;
      case 'failed':
        this.#fail(outcome.error, response, next);
        break;
      case 'disconnected': // No response can reach the client.
    }
  }

  #allow(outcome: AllowedOutcome, request: Request, response: Response, next: Next): void {
    const { decision, isDryRun } = outcome;
    const nodeResponse = this.#framework.getNodeResponse(response);
    if (!isDryRun && !nodeResponse.headersSent) this.#writeHeaders(outcome, response, nodeResponse);
    if (decision.delayMs > 0 && !isDryRun) this.#delay(outcome, request, response, next);
    else {
      if (outcome.needsSettlement) this.#settleLater(outcome, request, response);
      next();
    }
  }

  /** Separate from its caller, because the variables that functions share cost memory, even without a delay. */
  #delay(outcome: AllowedOutcome, request: Request, response: Response, next: Next): void {
    const isSent = () => this.#isResponseSent(response);
    delayRequest(this.limiter, this.#framework.getNodeResponse(response), outcome.decision, isSent, () => {
      if (outcome.needsSettlement) this.#settleLater(outcome, request, response);
      next();
    });
  }

  #settleLater(outcome: AllowedOutcome, request: Request, response: Response): void {
    const nodeResponse = this.#framework.getNodeResponse(response);
    onResponseFinished(nodeResponse, (isComplete) => {
      this.gate.settle(outcome, isComplete ? nodeResponse.statusCode : undefined, request, response);
    });
  }

  /** Frees what an allowed request has taken that does not continue: its start and its slots, but not its units. */
  #free(outcome: AllowedOutcome, request: Request, response: Response): void {
    if (outcome.decision.delayMs > 0) refundInBackground(this.limiter, outcome.decision);
    else if (outcome.needsSettlement) this.#settleLater(outcome, request, response);
  }

  #reject(outcome: RejectedOutcome, request: Request, response: Response, next: Next): void {
    const nodeResponse = this.#framework.getNodeResponse(response);
    if (endIfStarted(nodeResponse)) return;
    rememberCacheControl(this.#headers, this.#hasOwnHeaders ? response : nodeResponse);
    this.#writeHeaders(outcome, response, nodeResponse);
    this.#adapter.sendRejection(request, response, next, outcome.decision, outcome.rejection);
  }

  #writeHeaders(outcome: AllowedOutcome | RejectedOutcome, response: Response, nodeResponse: NodeResponse): void {
    const { headers } = this.gate;
    const target = this.#hasOwnHeaders ? response : nodeResponse;
    headers.write(target, outcome);
    const { namesOfDraft } = headers;
    if (namesOfDraft.length > 0) omitFromRedirects(nodeResponse, this.#headers, target, namesOfDraft);
  }

  #fail(error: Error, response: Response, next: Next): void {
    const { logErrorAfterStart } = this.#framework;
    if (logErrorAfterStart !== undefined && this.endIfStarted(response)) logErrorAfterStart(response, error);
    else next(error);
  }
}
