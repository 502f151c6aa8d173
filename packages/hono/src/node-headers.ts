import { type NodeResponse as CommonResponse, type EarlyHeaders, onResponseFinished } from '@rollgate/http';
import type { Context } from 'hono';

/** Node's request and response, which `@hono/node-server` passes to the app. */
export interface NodeBindings {
  readonly incoming?: {
    readonly url?: string;
    readonly headers: { readonly host?: string; readonly ':authority'?: string };
    readonly socket: { readonly remoteAddress?: string };
  };
  readonly outgoing?: NodeResponse;
}

/** Node's response, which knows its request. */
export interface NodeResponse extends CommonResponse {
  readonly req: unknown;
}

/** Returns Node's request and response. Elsewhere, the object has other contents or is empty. */
export function nodeBindingsOf(c: Context): NodeBindings {
  const env = (c.env ?? {}) as NodeBindings & { readonly server?: NodeBindings };
  return env.incoming === undefined && env.server !== undefined ? env.server : env;
}

/**
 * On a Node response, that a limiter of another request has its bindings, as a limiter of a mounted app has. That limiter
 * writes to its own response, which the app may return as the response to the outer request.
 */
const hasInnerLimiter = Symbol('Rollgate: an inner limiter has the Node response');

/**
 * On a Node response, the standard request of its first limiter. A handler may pass its bindings on, as in
 * `app.request('/other', {}, c.env)`, and the response to that other request is not Node's.
 */
const limitedRequest = Symbol('Rollgate: the request of the Node response');

type LimitedResponse = NodeResponse & { [hasInnerLimiter]?: boolean; [limitedRequest]?: Request };

/** The headers of Node's response. Node merges them with those of the standard response that Hono returns. */
class NodeHeaders implements EarlyHeaders {
  constructor(readonly response: LimitedResponse) {}

  get(name: string): string | null {
    const value = this.response.getHeader(name);
    return value === undefined ? null : String(value);
  }

  set(name: string, value: string): void {
    this.response.setHeader(name, value);
  }

  delete(name: string): void {
    if (!this.response.headersSent) this.response.removeHeader(name);
  }

  isReplacedBy({ headers }: Response): boolean {
    return (
      this.response[hasInnerLimiter] === true && (headers.has('x-ratelimit-remaining') || headers.has('ratelimit'))
    );
  }

  /** Notes that the response will contain these headers already, as a rejection does. */
  copied(): void {
    if (this.response[hasInnerLimiter]) this.response[hasInnerLimiter] = false;
  }
}

/** On a context, the headers of its Node response. All limiters of a request use the same ones. */
const nodeHeaders = Symbol('Rollgate: headers of the Node response');

type WithNodeHeaders = Context & { [nodeHeaders]?: NodeHeaders | null };

/**
 * Returns the headers of Node's response with `@hono/node-server`; `undefined` elsewhere, and when the response has started.
 * `Headers` of the standard response would take more time than the rest of the limiter.
 */
export function nodeHeadersOf(c: WithNodeHeaders): NodeHeaders | undefined {
  const headers = findNodeHeaders(c);
  return headers === null || headers.response.headersSent ? undefined : headers;
}

/** Whether Node has sent headers to this request. Then other headers come too late, and Node would reject a copy. */
export function hasNodeResponseStarted(c: WithNodeHeaders): boolean {
  return findNodeHeaders(c)?.response.headersSent === true;
}

/**
 * Calls the listener once when Node has sent its response to this request, with the status. If the client disconnects
 * before, calls it without one. So it does not matter whether other middleware replaces or discards Hono's response.
 *
 * @returns Whether the request has a Node response.
 */
export function onNodeResponseEnd(c: WithNodeHeaders, listener: (status: number | undefined) => void): boolean {
  const response = findNodeHeaders(c)?.response;
  if (response === undefined) return false;
  onResponseFinished(response, (isComplete) => listener(isComplete ? response.statusCode : undefined));
  return true;
}

function findNodeHeaders(c: WithNodeHeaders): NodeHeaders | null {
  let headers = c[nodeHeaders];
  if (headers === undefined) {
    headers = createNodeHeaders(c);
    c[nodeHeaders] = headers;
  }
  return headers;
}

function createNodeHeaders(c: Context): NodeHeaders | null {
  const { incoming, outgoing } = nodeBindingsOf(c);
  // Other platforms may have bindings of the same names.
  const isNode = incoming !== undefined && outgoing?.req === incoming && typeof outgoing.setHeader === 'function';
  if (!isNode) return null;
  const response: LimitedResponse = outgoing;
  if (isRequestOf(incoming, c.req.url)) response[limitedRequest] ??= c.req.raw;
  if (response[limitedRequest] === c.req.raw) return new NodeHeaders(response);
  response[hasInnerLimiter] = true;
  return null;
}

/** Whether a standard request has the URL of Node's request. Otherwise a handler has passed its bindings on. */
function isRequestOf({ url, headers }: NonNullable<NodeBindings['incoming']>, standardUrl: string): boolean {
  return standardUrl.endsWith(`//${headers[':authority'] ?? headers.host}${url}`);
}
