import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Decision, Limits, MissingNameOf, NameOf } from '@rollgate/core';
import type { Awaitable, HttpOptions } from '@rollgate/http';

/** A request of `node:http` or `node:http2`. */
export type Request = (IncomingMessage | Http2ServerRequest) & {
  /** The decision of the rate limiter about this request. With several limiters, the last one's. */
  rateLimit?: Decision;
};
/** A response of `node:http` or `node:http2`. */
export type Response = ServerResponse | Http2ServerResponse;

/** A listener for the event `request` of a server. */
export type Handler<Req extends Request = Request, Res extends Response = Response> = (
  request: Req & { rateLimit?: Decision },
  response: Res,
) => unknown;

/** The options of `rateLimit`: the settings of one rolling window or `limits`, and the options of all adapters. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<Request, Given, Response> & {
  /**
   * Returns the client's address.
   *
   * @defaultValue the address of the connection
   */
  address?: ((request: Request) => string | undefined) | undefined;
  /**
   * Sends the response to a rejected request instead of the default 429. The status and the headers are already set. Not
   * called when the response has started before the limiter ran, because Rollgate then ends it.
   */
  handler?:
    | ((
        request: Request,
        response: Response,
        decision: Decision<NameOf<Given>, MissingNameOf<Given>>,
      ) => Awaitable<void>)
    | undefined;
  /**
   * Handles the failure of an option function or the store, and of a wrapped handler, and a `message` that is an error.
   *
   * By default, the client gets a response with the error's `status` or `statusCode`, or else 500, and the error appears on
   * the console. If the error's `expose` is `true`, the response contains its message instead. A response that has already
   * started is cut off, and one that has already ended stays as it is.
   */
  onError?: ((error: Error, request: Request, response: Response) => void) | undefined;
};
