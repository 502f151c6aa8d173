import type { Decision } from '@rollgate/core';
import { isThenable, refundInBackground } from '@rollgate/core/store';
import { withTimeout } from '../base/with-timeout.js';
import type { Gate } from '../gate/gate.js';
import type { ResolvedOptions } from '../options/resolve-options.js';
import { releaseInBackground } from '../refunds/release-in-background.js';
import type { Adapter, Next } from './decision-actions.js';
import { delayRequest } from './delay-request.js';
import type { FailureHandler } from './failure-handler.js';
import type { Framework } from './framework.js';
import { refundAfterResponse } from './refund-after-response.js';
import { endIfStarted, onResponseFinished } from './response-lifecycle.js';
import { rememberCacheControl } from './withdraw-rejection.js';

type OnLimited<Request, Response> = NonNullable<ResolvedOptions<Request, Response>['onLimited']>;

/** Applies a decision to its request: publishes it, writes the headers, then continues, delays or rejects. */
export class DecisionApplier<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  readonly #adapter: Adapter<Request, Response>;
  readonly #gate: Gate<Request, Response>;
  readonly #options: ResolvedOptions<Request, Response>;
  readonly #failures: FailureHandler<Response>;

  constructor(
    framework: Framework<Request, Response>,
    adapter: Adapter<Request, Response>,
    gate: Gate<Request, Response>,
    failures: FailureHandler<Response>,
  ) {
    this.#framework = framework;
    this.#adapter = adapter;
    this.#gate = gate;
    this.#options = gate.options;
    this.#failures = failures;
  }

  /** @param decision `undefined` for a request that `allowList` or `skip` exempts. */
  apply(decision: Decision | undefined, request: Request, response: Response, next: Next): void {
    if (decision === undefined) {
      this.#gate.exempt(request);
      next();
      return;
    }
    const { dryRun, onLimited } = this.#options;
    this.#adapter.attachDecision(request, decision);
    this.#gate.publish(request, decision);
    if (decision.allowed) {
      if (!dryRun) this.#writeHeaders(response, decision);
      this.#continueOrDelay(decision, request, response, next);
    } else if (onLimited === undefined) this.#reject(decision, request, response, next);
    else this.#rejectAfter(onLimited, decision, request, response, next);
  }

  /** Settles a decision that came after other code, such as a timeout, had responded: frees its slot, keeps its units. */
  applyAfterResponse(decision: Decision | undefined, request: Request, response: Response): void {
    if (!decision?.allowed) return;
    if (decision.delayMs > 0) refundInBackground(this.#options.limiter, decision);
    else this.#refundLater(decision, request, response);
  }

  /** Calls `onLimited` before anything of a rejection is written. If it fails, the request is not rejected. */
  #rejectAfter(
    onLimited: OnLimited<Request, Response>,
    decision: Decision,
    request: Request,
    response: Response,
    next: Next,
  ): void {
    const reject = () => {
      if (!this.#framework.isResponseSent(response)) this.#reject(decision, request, response, next);
    };
    try {
      const result = onLimited(request, decision);
      if (!isThenable(result)) reject();
      else {
        withTimeout('onLimited', result, this.#options.timeoutMs)
          .then(reject)
          .catch((thrown) => this.#failures.handleUnlessSent(response, next, thrown));
      }
    } catch (thrown) {
      this.#failures.handle(response, next, thrown);
    }
  }

  #reject(decision: Decision, request: Request, response: Response, next: Next): void {
    if (this.#options.dryRun) next();
    else if (!endIfStarted(this.#framework.getNodeResponse(response))) {
      rememberCacheControl(this.#framework, response);
      this.#writeHeaders(response, decision);
      this.#adapter.sendRejection(request, response, next, decision);
    }
  }

  #writeHeaders(response: Response, decision: Decision): void {
    if (!this.#framework.getNodeResponse(response).headersSent) this.#gate.writeHeaders(response, decision);
  }

  #continueOrDelay(decision: Decision, request: Request, response: Response, next: Next): void {
    if (decision.delayMs === 0 || this.#options.dryRun) {
      this.#refundLater(decision, request, response);
      next();
    } else this.#delay(decision, request, response, next);
  }

  /** Separate from its caller, because the variables that functions share cost memory, even without a delay. */
  #delay(decision: Decision, request: Request, response: Response, next: Next): void {
    const { isResponseSent, getNodeResponse } = this.#framework;
    const isSent = () => isResponseSent(response);
    delayRequest(this.#options.limiter, getNodeResponse(response), decision, isSent, () => {
      this.#refundLater(decision, request, response);
      next();
    });
  }

  /** After the response, releases the request's slots, and refunds it if the options exempt it. */
  #refundLater(decision: Decision, request: Request, response: Response): void {
    const { limiter, refundRules } = this.#options;
    const hasSlots = this.#gate.hasSlots(decision);
    if (refundRules === undefined && !hasSlots) return;
    const nodeResponse = this.#framework.getNodeResponse(response);
    if (hasSlots) onResponseFinished(nodeResponse, () => releaseInBackground(limiter, decision));
    if (refundRules !== undefined) refundAfterResponse(limiter, refundRules, nodeResponse, request, response, decision);
  }
}
