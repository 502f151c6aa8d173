import type { ExecutionContext } from '@nestjs/common';
import type { Decision, RateLimiter } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import { type Awaitable, HttpLimiter, type Next, type Rejection, rejectionBody, toError } from '@rollgate/http';
import { createNestFramework, requestOf, responseOf } from './nest-framework.js';
import type { NestResponse, RateLimitOptions } from './options.js';
import { RateLimitException } from './rate-limit-exception.js';

/** Limits the requests of one route, or of all routes without a limit of their own. */
export class NestLimiter {
  readonly #httpLimiter: HttpLimiter<ExecutionContext, NestResponse>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor({ address, ...options }: RateLimitOptions) {
    const framework = createNestFramework(address);
    this.#httpLimiter = new HttpLimiter(framework, options as never, {
      attachDecision,
      sendRejection: (context, response, next, decision) => this.#reject(context, response, next, decision),
    });
  }

  get limiter(): RateLimiter {
    return this.#httpLimiter.limiter;
  }

  /**
   * Returns `true` if the request continues, at once if the limiter decides at once.
   *
   * @throws RateLimitException for a rejected request, or the error of an option function.
   */
  canActivate(context: ExecutionContext): Awaitable<boolean> {
    const response = responseOf(context);
    if (response === undefined) return this.#judge(context);
    let result: { readonly error: Error | undefined } | undefined;
    let settle = (error: Error | undefined): void => {
      result = { error };
    };
    this.#httpLimiter.run(context, response, (error) => settle(error));
    if (result === undefined) {
      return new Promise((resolve, reject) => {
        settle = (error) => (error === undefined ? resolve(true) : reject(error));
      });
    }
    if (result.error !== undefined) throw result.error;
    return true;
  }

  /** Decides a request without a response, such as a message of a WebSocket. It does not wait for a slot. */
  async #judge(context: ExecutionContext): Promise<boolean> {
    const { gate } = this.#httpLimiter;
    const outcome = await gate.judge(context);
    if (outcome.kind !== 'exempt') attachDecision(context, outcome.decision);
    if (outcome.kind !== 'rejected') return true;
    const exception = this.#createException(outcome.rejection, outcome.decision);
    throw context.getType() === 'ws' ? toWsException(exception) : exception;
  }

  #reject(context: ExecutionContext, response: NestResponse, next: Next, decision: Decision): void {
    const fail = (thrown: unknown) => {
      if (this.#httpLimiter.endIfStarted(response)) return;
      const error = toError(thrown);
      this.#httpLimiter.withdrawRejection(response, error);
      next(error);
    };
    const reject = (rejection: Rejection) => {
      if (this.#httpLimiter.endIfStarted(response)) return;
      if ('json' in rejection) this.#httpLimiter.gate.setHeader(response, 'content-type', rejection.type);
      next(this.#createException(rejection, decision));
    };
    try {
      const rejection = this.#httpLimiter.createRejection(context, decision);
      if (isThenable(rejection)) Promise.resolve(rejection).then(reject).catch(fail);
      else reject(rejection);
    } catch (thrown) {
      fail(thrown);
    }
  }

  #createException(rejection: Rejection, decision: Decision): Error {
    const { statusCode } = this.#httpLimiter;
    if ('error' in rejection) return rejection.error;
    const body = 'json' in rejection ? JSON.parse(rejection.json) : rejectionBody(statusCode, rejection.text);
    return RateLimitException.create(body, statusCode, decision);
  }
}

function attachDecision(context: ExecutionContext, decision: Decision): void {
  (requestOf(context) as { rateLimit?: Decision }).rateLimit = decision;
}

/** Only gateways need the package, and an app with gateways has installed it. */
function toWsException(exception: Error): Error {
  const { WsException } = require('@nestjs/websockets') as { WsException: new (error: string | object) => Error };
  return exception instanceof RateLimitException ? new WsException(exception.getResponse()) : exception;
}
