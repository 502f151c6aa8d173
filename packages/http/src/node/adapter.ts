import type { Decision } from '@rollgate/core';
import type { Connection, HeaderWriter, RequestReader } from '../host/host.js';
import type { Rejection } from '../rejection/rejection.js';

// What an adapter implements for a framework with Node's responses: how to use the framework, and what to do there.

/**
 * Node's response object, which every framework wraps or extends: `ServerResponse` of `node:http`, or `Http2ServerResponse` of
 * `node:http2`. Only its common members are here, so that apps on other platforms need no types of Node.
 */
export interface NodeResponse {
  /** The status of the response. */
  statusCode: number;
  /** Whether the response has started. */
  readonly headersSent: boolean;
  /** Whether the response has ended. */
  readonly writableEnded: boolean;
  /** The value of a header. */
  getHeader(name: string): unknown;
  /** Sets a header. */
  setHeader(name: string, value: string | number): unknown;
  /** Removes a header. */
  removeHeader(name: string): void;
}

/** How to write and remove the headers of responses. */
export interface HeaderEditor<Response> extends HeaderWriter<Response> {
  /** Removes a header of the response. */
  readonly removeHeader: (response: Response, name: string) => void;
}

/** A framework whose responses are Node's: how to read its requests, and how to inspect and change its responses. */
export interface Framework<Request, Response> extends RequestReader<Request> {
  /** Returns Node's response object behind the framework's. */
  readonly getNodeResponse: (response: Response) => NodeResponse;
  /**
   * Returns the connection of a request, to warn about settings under which all clients count as one, or can forge their
   * address. Not called if the option `address` returns the address, because no setting of the host matters then.
   */
  readonly getConnection?: (request: Request) => Connection | undefined;
  /** How to write headers, if the framework keeps them elsewhere than in Node's response object. */
  readonly headers?: HeaderEditor<Response>;
  /**
   * Whether the whole response was handed over, or other code has taken it over. False if the response has only started. By
   * default, Node's response object determines it.
   */
  readonly isResponseSent?: (response: Response) => boolean;
  /** Logs an error after the response has started. For frameworks whose error handling cannot end such a response. */
  readonly logErrorAfterStart?: (response: Response, error: Error) => void;
}

/** Continues with the request, or passes an error to the framework's error handling. Called once. */
export type Next = (error?: Error) => unknown;

/** What an adapter does with a decision. */
export interface Adapter<Request, Response> {
  /** Puts the decision on the request, where the app's handlers can read it. */
  readonly attachDecision: (request: Request, decision: Decision) => void;
  /** Whether the app's own handler responds to rejected requests, so that the option `message` is not needed. */
  readonly hasHandler?: boolean;
  /** Whether `HttpLimiter.run` resolves for a dropped request, for a framework whose middleware continues only by `next`. */
  readonly settlesDropped?: boolean;
  /**
   * Sends the response to a rejected request. Its headers are already set. An adapter passes the `error` of a rejection to
   * `next`, and sends what `renderRejection` makes of any other. It returns a promise if it takes time to do so.
   */
  sendRejection(request: Request, response: Response, next: Next, decision: Decision, rejection: Rejection): unknown;
}
