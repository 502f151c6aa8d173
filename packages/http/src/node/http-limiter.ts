import type { Awaitable, Limits, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground, scheduleAfter } from '@rollgate/core/store';
import { toError } from '../errors/errors.js';
import { Gate } from '../gate/gate.js';
import type { AllowedOutcome, Outcome, RejectedOutcome } from '../gate/outcome.js';
import type { HttpOptions } from '../options/options.js';
import { isRejectionError, type Rejection } from '../rejection/rejection.js';
import { findProxyMistake } from '../warnings/proxy-mistake.js';
import type { Adapter, Framework, HeaderEditor, Next, NodeResponse } from './adapter.js';
import { NODE_HEADERS, omitFromRedirects, rememberCacheControl, withdrawRejection } from './node-headers.js';
import { endIfStarted, onDisconnect, onResponseFinished } from './response-lifecycle.js';

/** The promise of all requests that have continued or been rejected when a middleware returns. */
const DONE = /* @__PURE__ */ Promise.resolve();

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
 *   getConnection: (request) => ({ peer: request.socket.remoteAddress }),
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
    const { headers = NODE_HEADERS, getNodeResponse, getConnection } = framework;
    const isResponseSent = framework.isResponseSent ?? ((response) => getNodeResponse(response).writableEnded);
    this.#framework = framework;
    this.#adapter = adapter;
    this.#headers = headers as HeaderEditor<HeaderTarget<Response>>;
    this.#hasOwnHeaders = headers !== NODE_HEADERS;
    this.#isResponseSent = isResponseSent;
    const { attachDecision, hasHandler = false } = adapter;
    const ofRequests = {
      ...framework,
      findProxyMistake: (request: Request) => findProxyMistake(framework, request, getConnection?.(request)),
    };
    this.gate = new Gate({ ...ofRequests, ...this.#headers, attachDecision, isResponseSent, hasHandler }, options);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.gate.limiter;
  }

  /**
   * Judges a request. Then it calls `next`, or the adapter's `sendRejection`. A failure calls `next` with the error, once.
   * Neither is called if other code has responded before, or if the client of a delayed request disconnects.
   *
   * @returns What `next` or `sendRejection` returns. If the decision takes time, a promise of that, which rejects with what they
   * throw. For a dropped request, it stays pending unless the adapter has `settlesDropped`, because code that awaits it would
   * otherwise continue with a request that was refunded.
   */
  run(request: Request, response: Response, next: Next): Awaitable<unknown> {
    return this.gate.judge(request, response, (outcome) => {
      if (outcome.kind !== 'allowed') return this.#applyOther(outcome, request, response, next);
      try {
        if (!outcome.isDryRun) this.#writeHeaders(outcome, response, this.#framework.getNodeResponse(response));
        if (outcome.decision.delayMs > 0 && !outcome.isDryRun) return this.#delay(outcome, request, response, next);
        if (outcome.needsSettlement) this.#settleLater(outcome, request, response);
      } catch (thrown) {
        this.#free(outcome, request, response);
        return this.#fail(toError(thrown), response, next); // Such as that of a patched `setHeader`.
      }
      return next();
    });
  }

  /**
   * Creates a middleware, which apps may also call themselves. It runs the limiter.
   *
   * It returns a promise that resolves after `next` was called or the rejection was sent, and rejects with what they throw or reject
   * with. The promise stays pending for a dropped request, as that of `run` does. If the decision takes no time, the middleware throws
   * what `next` throws, because Express 4 and Connect handle what a middleware throws, but no promise.
   */
  createMiddleware(): (request: Request, response: Response, next: Next) => Promise<void> {
    const rateLimitMiddleware = (request: Request, response: Response, next: Next): Promise<void> => {
      const result = this.run(request, response, next);
      return isThenable(result) ? (Promise.resolve(result) as Promise<void>) : DONE;
    };
    return rateLimitMiddleware;
  }

  /**
   * Removes the headers and the status of a rejection, because the app's handler continues with the request after all or
   * fails. Keeps them if `error` is a rejection itself, and if the response has started. Restores the earlier `Cache-Control` if
   * the adapter has `hasHandler`.
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
   * @returns A promise that resolves when the handler has finished or failed.
   */
  async callHandler(
    response: Response,
    rejection: Rejection,
    handler: () => unknown,
    onFailure: (error: Error, isWithdrawn: boolean) => unknown,
  ): Promise<void> {
    try {
      await handler();
    } catch (thrown) {
      if (this.endIfStarted(response)) return;
      const error = toError(thrown);
      await onFailure(error, this.withdrawRejection(response, rejection, error));
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

  #applyOther(outcome: Exclude<Outcome, AllowedOutcome>, request: Request, response: Response, next: Next): unknown {
    switch (outcome.kind) {
      case 'exempt':
        return next();
      case 'rejected':
        return this.#reject(outcome, request, response, next);
      case 'responded':
        if (outcome.allowed !== undefined) this.#free(outcome.allowed, request, response);
        return undefined;
      case 'failed':
        return this.#fail(outcome.error, response, next);
      case 'disconnected': // No response can reach the client.
        return this.#adapter.settlesDropped ? undefined : new Promise(() => {});
    }
  }

  /**
   * Delays an allowed request until its start, and then continues with it in the caller's async context. If the client disconnects or
   * other code, such as a timeout, responds before, it refunds the request instead.
   *
   * Over HTTP/1, Node stops reading once about 64 kB of a request's body are unread. It then cannot detect a disconnect, so
   * such a request continues at its start. A closing server waits for delayed requests as for any others.
   */
  #delay(outcome: AllowedOutcome, request: Request, response: Response, next: Next): Promise<unknown> {
    const { limiter } = this;
    const { decision, needsSettlement } = outcome;
    return new Promise((resolve) => {
      const drop = () => {
        refundInBackground(limiter, decision);
        if (this.#adapter.settlesDropped || this.#isResponseSent(response)) resolve(undefined);
      };
      let cancel = () => {};
      const stopWatching = onDisconnect(this.#framework.getNodeResponse(response), () => {
        cancel();
        drop();
      });
      if (stopWatching === undefined) return;
      const onStart = () => {
        stopWatching();
        if (this.#isResponseSent(response)) return drop();
        if (needsSettlement) this.#settleLater(outcome, request, response);
        resolve(new Promise((continued) => continued(next())));
      };
      cancel = scheduleAfter(decision.delayMs, onStart, limiter.clock);
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
    else if (outcome.needsSettlement) {
      try {
        this.#settleLater(outcome, request, response);
      } catch {
        this.gate.settle(outcome, undefined, request, response); // Such a response has no end that anyone could await.
      }
    }
  }

  #reject(outcome: RejectedOutcome, request: Request, response: Response, next: Next): unknown {
    const nodeResponse = this.#framework.getNodeResponse(response);
    if (endIfStarted(nodeResponse)) return undefined;
    try {
      if (this.#adapter.hasHandler) rememberCacheControl(this.#headers, this.#hasOwnHeaders ? response : nodeResponse);
      this.#writeHeaders(outcome, response, nodeResponse);
    } catch (thrown) {
      return this.#fail(toError(thrown), response, next);
    }
    return this.#adapter.sendRejection(request, response, next, outcome.decision, outcome.rejection);
  }

  #writeHeaders(outcome: AllowedOutcome | RejectedOutcome, response: Response, nodeResponse: NodeResponse): void {
    const { headers } = this.gate;
    const target = this.#hasOwnHeaders ? response : nodeResponse;
    try {
      headers.write(target, outcome);
      const { namesOfDraft } = headers;
      if (namesOfDraft.length > 0) omitFromRedirects(nodeResponse, this.#headers, target, namesOfDraft);
    } catch (thrown) {
      // A response that has started keeps its headers. This is asked only now, because each response of Express has its own hidden
      // class, in which the engine looks up each getter anew.
      if (!nodeResponse.headersSent) throw thrown;
    }
  }

  #fail(error: Error, response: Response, next: Next): unknown {
    const { logErrorAfterStart } = this.#framework;
    if (logErrorAfterStart === undefined || !this.endIfStarted(response)) return next(error);
    logErrorAfterStart(response, error);
    return undefined;
  }
}
