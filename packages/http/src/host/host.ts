import type { Decision } from '@rollgate/core';

/** What `X-RateLimit-Reset` counts: the seconds since 1970 at the reset, or the seconds left until it. */
export type ResetUnit = 'epoch' | 'delta';

/** How to read the requests of a host, which is a framework or a platform. */
export interface RequestReader<Request> {
  /** The name of the adapter in errors about its options. */
  readonly name: string;
  /** The options that only this adapter has. It validates their values, except `address`, which the limiter applies itself. */
  readonly ownOptions: readonly string[];
  /** The default of the option `resetUnit`. */
  readonly resetUnit: ResetUnit;
  /** Returns the client's address, resolved through the proxies that the app trusts. The option `address` replaces it. */
  readonly getClientAddress: (request: Request) => string | undefined;
  /** Returns the value of a request's header with this lowercase name. */
  readonly getRequestHeader: (request: Request, name: string) => unknown;
  /** Returns the mistake that a request shows about the proxies in front of the app, to warn about it. */
  readonly findProxyMistake?: (request: Request) => ProxyMistake | undefined;
  /** Whether the client has closed the connection. */
  readonly isDisconnected: (request: Request) => boolean;
  /** Returns the request that the app knows, if `Request` is an object of the adapter. */
  readonly getOriginalRequest?: (request: Request) => object;
  /** Returns the object that keeps the decisions for `settle`. Defaults to the request that the app knows. */
  readonly getSettledRequest?: (request: Request) => object;
  /**
   * Whether each request has a hidden class of its own, as in Express, which each new property copies. Then the decisions for
   * `settle` are not on the request. Defaults to `false`.
   */
  readonly haveOwnClasses?: boolean;
  /** Whether one request may count several times, so that this is not a mistake. Defaults to `false`. */
  readonly countsRepeatedly?: boolean;
}

/** A setting under which all clients count as one, or can forge their address. */
export interface ProxyMistake {
  /** The code of the warning. */
  readonly code: 'ROLLGATE_UNTRUSTED_PROXY' | 'ROLLGATE_TRUSTS_EVERY_PROXY' | 'ROLLGATE_UNREAD_FORWARDED';
  /** What is wrong, and how to correct it. */
  readonly text: string;
}

/** The connection on which a request has arrived. */
export interface Connection {
  /** The address of the other end, which is a client or a proxy. */
  readonly peer: string | undefined;
  /**
   * Returns the address that the host itself resolves for a request on a connection with this peer and this
   * `X-Forwarded-For`. `undefined` for a host that reads no such header.
   */
  readonly resolve?: (peer: string, forwardedFor: string) => string | undefined;
}

/** Sets one header. It is a method of the object that has the headers, or called as one. */
export type SetHeader<Target> = (this: Target, name: string, value: string) => unknown;

/** How to write the headers of a host's responses. */
export interface HeaderWriter<Target> {
  /**
   * Returns the method that sets a header and replaces an earlier value. It is looked up once for several headers, because
   * each look-up takes long on responses that have their own hidden class, as those of Express.
   */
  readonly getSetHeader: (target: Target) => SetHeader<Target>;
  /** Returns the value to which a header was set; `undefined` without one. */
  readonly getHeader: (target: Target, name: string) => unknown;
  /** Whether the host converts the names of headers to lowercase. */
  readonly lowercaseHeaders: boolean;
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
