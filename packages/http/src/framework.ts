import type { IncomingHttpHeaders } from 'node:http';
import type { NodeResponse } from './answer.js';
import type { ResetUnit } from './header-options.js';

/** Sets one header of a framework's response. */
export type SetHeader<Response> = (response: Response, name: string, value: string) => void;
/** Returns the value to which a header of a framework's response was set. */
export type GetHeader<Response> = (response: Response, name: string) => unknown;

/** Which proxies an app believes when they tell the client's address. */
export type ProxyTrust = 'none' | 'some' | 'every';

/** What differs from framework to framework. */
export interface Framework<Request, Response> {
  /** What errors call the adapter. */
  readonly name: string;
  /** The names of the options that only this adapter has. */
  readonly ownOptions: readonly string[];
  /** What `X-RateLimit-Reset` means to the framework's users. */
  readonly resetUnit: ResetUnit;
  /** The client's address, resolved through the proxies that the framework trusts. */
  readonly addressOf: (request: Request) => string | undefined;
  /** The request's fields, with names in lower case. */
  readonly headersOf: (request: Request) => IncomingHttpHeaders;
  readonly proxyTrust: (request: Request) => ProxyTrust;
  /** Whether the client has closed the connection, and nobody waits for an answer. */
  readonly hasLeft: (request: Request) => boolean;
  /** Whether the whole response was handed over, or is somebody else's. One that has only started is not answered. */
  readonly isAnswered: (response: Response) => boolean;
  /** Logs an error of a response that has started, for a framework whose error handling cannot end such a response. */
  readonly logStarted?: (response: Response, error: Error) => void;
  /** The response of Node's that the framework's stands for. */
  readonly nodeResponse: (response: Response) => NodeResponse;
  readonly setField: SetHeader<Response>;
  readonly getField: GetHeader<Response>;
  readonly removeField: (response: Response, name: string) => void;
  /** Whether the framework puts the names of fields in lower case. */
  readonly lowerCaseFields: boolean;
}
