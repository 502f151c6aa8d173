import { type ExecutionContext, HttpException, StreamableFile } from '@nestjs/common';
import type { Awaitable, Decision, RateLimiter } from '@rollgate/core';
import { isThenable, sleep, withCode } from '@rollgate/core/store';
import { HttpLimiter, optionError, REJECTION_CODE, type Rejection, rejectionBody } from '@rollgate/http';
import { getSetHeader, NEST, responseOf } from './nest-framework.js';
import type { NestResponse, RateLimitOptions } from './options.js';
import { attachDecision } from './rate-limit-decision.js';

/**
 * A body that is not JSON. Nest's own exception filter sends a string inside a JSON object, but a file as it is. Filters that
 * send the exception's response as JSON send the text.
 */
class TextBody extends StreamableFile {
  /** @param message The whole body, which `HttpException` also takes as its message. */
  constructor(
    readonly message: string,
    type: string,
  ) {
    super(Buffer.from(message), { type });
  }

  toJSON(): string {
    return this.message;
  }
}

/** On a context, the limiter that has counted it. Nest creates a context for each call of a handler. */
const COUNTED_BY = Symbol('Rollgate limiter');

type CountedContext = { [COUNTED_BY]?: NestLimiter };

/** Limits the requests of one route, or of all routes without a limit of their own. */
export class NestLimiter {
  readonly #httpLimiter: HttpLimiter<ExecutionContext, NestResponse>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(options: RateLimitOptions) {
    this.#httpLimiter = new HttpLimiter(NEST, options as never, {
      attachDecision,
      sendRejection(context, response, next, decision, rejection) {
        if ('body' in rejection && context.getType() === 'http') {
          getSetHeader(response).call(response as never, 'content-type', rejection.type);
        }
        return next(createException(context, rejection, decision));
      },
    });
  }

  get limiter(): RateLimiter {
    return this.#httpLimiter.limiter;
  }

  /**
   * Returns `true` if the request continues, at once if the limiter decides at once. Counts a call of a handler once, even if
   * both `APP_GUARD` and `@UseGuards` apply the guard.
   *
   * @throws RateLimitException for a rejected request, or the error of an option function.
   */
  canActivate(context: ExecutionContext): Awaitable<boolean> {
    const counted = context as CountedContext;
    if (counted[COUNTED_BY] === this) return true;
    counted[COUNTED_BY] = this;
    const response = responseOf(context);
    if (response === undefined) return this.#judge(context);
    const result = this.#httpLimiter.run(context, response, (error) => {
      if (error !== undefined) throw error;
      return true;
    });
    return isThenable(result) ? Promise.resolve(result).then(neverIfDropped) : neverIfDropped(result);
  }

  /** Checks a request without a response, such as a message of a WebSocket. */
  async #judge(context: ExecutionContext): Promise<boolean> {
    if (context.getType() === 'rpc') throw rpcError();
    const { gate } = this.#httpLimiter;
    const outcome = await gate.judge(context);
    if (outcome.kind === 'rejected') throw createException(context, outcome.rejection, outcome.decision);
    if (outcome.kind === 'failed' || (outcome.kind === 'disconnected' && !gate.options.dryRun)) throw outcome.error;
    if (outcome.kind !== 'allowed') return true;
    if (outcome.hasLeases) {
      await gate.release(outcome);
      throw slotsError();
    }
    const { delayMs } = outcome.decision;
    if (delayMs > 0 && !outcome.isDryRun) await sleep(delayMs, this.limiter.clock);
    return true;
  }
}

/** Nest would respond to a dropped request, to which other code has responded. Nothing refers to a promise that never settles. */
const neverIfDropped = (result: unknown): Awaitable<boolean> => (result === true ? true : new Promise(() => {}));

function createException(context: ExecutionContext, rejection: Rejection, decision: Decision): Error {
  if ('error' in rejection) return rejection.error;
  const type = context.getType<string>();
  const exception = RateLimitException.create(toBody(rejection, type === 'http'), rejection.status, decision);
  if (type === 'graphql') return toGraphqlException(exception);
  return type === 'ws' ? toWsException(exception) : exception;
}

/** Returns the body for Nest's exception filters. Only HTTP has content types, so it is always an object elsewhere. */
function toBody(rejection: Exclude<Rejection, { readonly error: Error }>, isHttp: boolean): object {
  const { status } = rejection;
  if ('text' in rejection) return rejectionBody(status, rejection.text);
  const { type, body } = rejection;
  if (/json/.test(type)) return JSON.parse(body);
  return isHttp ? new TextBody(body, type) : rejectionBody(status, body);
}

/** Converts the body to the `extensions` of a GraphQL error. As a body, drivers would replace its `code`. */
function toGraphqlException(exception: RateLimitException): Error {
  const { message, decision } = exception;
  const statusCode = exception.getStatus();
  const { message: _message, ...members } = exception.getResponse() as { message?: unknown };
  const converted = RateLimitException.create(message, statusCode, decision);
  converted.extensions = { code: REJECTION_CODE, statusCode, retryAfterMs: decision.retryAfterMs, ...members };
  return converted;
}

/** Only gateways need the package, and an app with gateways has installed it. */
function toWsException(exception: RateLimitException): Error {
  const { WsException } = require('@nestjs/websockets') as { WsException: new (error: string | object) => Error };
  return new WsException(exception.getResponse());
}

const slotsError = () =>
  optionError(
    'Expected limits without `concurrency` for messages, because a guard cannot see when a handler ends. Call `check` and `release` of a RateLimiter in the handler instead',
  );

function rpcError(): Error {
  const message =
    'Expected an HTTP request, a GraphQL operation or a message of a gateway, got a message of a microservice, which the guard does not support. Add `@SkipRateLimit()` to its handler, and call `check` of a RateLimiter there';
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(message));
}

/** A rejection. Its response is the body, and exception filters may send another one. It has no stack trace. */
export class RateLimitException extends HttpException {
  readonly #decision: Decision;
  /** In a GraphQL operation, the `extensions` of the error: `code`, `statusCode`, `error` and `retryAfterMs`. */
  extensions?: Record<string, unknown>;

  private constructor(body: string | object, statusCode: number, decision: Decision) {
    super(body as object, statusCode);
    this.#decision = decision;
  }

  /** Creates an exception without a stack trace, because capturing one for each would make a flood expensive. */
  static create(body: string | object, statusCode: number, decision: Decision): RateLimitException {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return new RateLimitException(body, statusCode, decision);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  /** The limiter's decision. A getter, so that logs of the exception do not contain it. */
  get decision(): Decision {
    return this.#decision;
  }
}
