import type { IncomingHttpHeaders } from 'node:http';
import type { ResetUnit } from './header-options.js';
import type { NodeResponse } from './response-lifecycle.js';

/** Sets one header of a framework's response. */
export type SetHeader<Response> = (response: Response, name: string, value: string) => void;
/** Returns the value to which a header of a framework's response was set. */
export type GetHeader<Response> = (response: Response, name: string) => unknown;

/** Which proxies an app trusts to report the client's address. */
export type ProxyTrust = 'none' | 'some' | 'every';

/** What differs between frameworks: how to read a request, and how to inspect and change a response. */
export interface Framework<Request, Response> {
  /** The name of the adapter in errors about its options. */
  readonly name: string;
  /** The options that only this adapter has. */
  readonly ownOptions: readonly string[];
  /** The default of the option `resetUnit`. */
  readonly resetUnit: ResetUnit;
  /** Returns the client's address, resolved through the proxies that the app trusts. */
  readonly getClientAddress: (request: Request) => string | undefined;
  /** Returns the request's headers, with lowercase names. */
  readonly getRequestHeaders: (request: Request) => IncomingHttpHeaders;
  readonly getProxyTrust: (request: Request) => ProxyTrust;
  /** Whether the client has closed the connection. */
  readonly isDisconnected: (request: Request) => boolean;
  /** Whether the whole response was handed over, or other code has taken it over. False if the response has only started. */
  readonly isResponseSent: (response: Response) => boolean;
  /** Logs an error after the response has started. For frameworks whose error handling cannot end such a response. */
  readonly logErrorAfterStart?: (response: Response, error: Error) => void;
  /** Returns Node's response object behind the framework's. */
  readonly getNodeResponse: (response: Response) => NodeResponse;
  readonly setHeader: SetHeader<Response>;
  readonly getHeader: GetHeader<Response>;
  readonly removeHeader: (response: Response, name: string) => void;
  /** Whether the framework converts the names of headers to lowercase. */
  readonly lowercaseHeaders: boolean;
}
