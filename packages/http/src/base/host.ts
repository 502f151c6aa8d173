import type { Decision, RateLimiter } from '@rollgate/core';

/** Sets one header of a response. */
export type SetHeader<Response> = (response: Response, name: string, value: string) => void;
/** Returns the value to which a header of a response was set. */
export type GetHeader<Response> = (response: Response, name: string) => unknown;

/** What `X-RateLimit-Reset` counts: the seconds since 1970 at the reset, or the seconds left until it. */
export type ResetUnit = 'epoch' | 'delta';

/** Which proxies an app trusts to report the client's address. `'custom'` if the app's own function returns the address. */
export type ProxyTrust = 'none' | 'some' | 'every' | 'custom';

/** How to read the requests of a host, which is a framework or a platform. */
export interface RequestReader<Request> {
  /** The name of the adapter in errors about its options. */
  readonly name: string;
  /** The options that only this adapter has. */
  readonly ownOptions: readonly string[];
  /** The default of the option `resetUnit`. */
  readonly resetUnit: ResetUnit;
  /** Returns the client's address, resolved through the proxies that the app trusts. */
  readonly getClientAddress: (request: Request) => string | undefined;
  /** Returns the value of a request's header with this lowercase name. */
  readonly getRequestHeader: (request: Request, name: string) => unknown;
  /** Returns which proxies the app trusts, to warn about settings that let clients forge their address. */
  readonly getProxyTrust: (request: Request) => ProxyTrust;
  /** Whether the client has closed the connection. */
  readonly isDisconnected: (request: Request) => boolean;
  /** Returns the request that the app knows, if `Request` is an object of the adapter. */
  readonly getOriginalRequest?: (request: Request) => object;
  /** Returns the object that keeps the decisions for `settle`. Defaults to the request that the app knows. */
  readonly getSettledRequest?: (request: Request) => object;
  /** Remembers what a limiter did with a request, for `settle`. Defaults to a property of the request. */
  readonly rememberDecision?: (request: object, limiter: RateLimiter, decision: Decision | undefined) => void;
  /** Whether one request may count several times, so that this is not a mistake. Defaults to `false`. */
  readonly countsRepeatedly?: boolean;
}

/** How to write the headers of a host's responses. */
export interface HeaderWriter<Response> {
  /** Sets a header of the response, which replaces an earlier value. */
  readonly setHeader: SetHeader<Response>;
  /** Returns the value of a header of the response; `undefined` without one. */
  readonly getHeader: GetHeader<Response>;
  /** Whether the host converts the names of headers to lowercase. */
  readonly lowercaseHeaders: boolean;
  /**
   * Returns the object that keeps the response's headers by their lowercase names, where storing a value is the same as
   * `setHeader` but costs less. `undefined` if that is not certain for this response.
   */
  readonly getHeadersObject?: (response: Response) => Record<string, unknown> | undefined;
}

/**
 * What the gate has to know about a host: how to read a request, and how to write headers.
 *
 * @typeParam Response The response that other code may send, if the host has one before it responds.
 * @typeParam Target What the host writes headers to.
 */
export interface Host<Request, Response, Target = Response> extends RequestReader<Request>, HeaderWriter<Target> {
  /** Puts the decision on the request, where the app's handlers can read it. */
  readonly attachDecision?: (request: Request, decision: Decision) => void;
  /** Whether other code may have responded to the request while the limiter waited. By default, no code can. */
  readonly isResponseSent?: (response: Response) => boolean;
  /** Whether the app's own handler responds to rejected requests, so that they need no `message`. */
  readonly hasHandler?: boolean;
}

/** Returns the request that the app knows. */
export function originalRequest<Request>(reader: RequestReader<Request>, request: Request): object {
  return reader.getOriginalRequest === undefined ? (request as object) : reader.getOriginalRequest(request);
}
