import type { WebHeaders } from '@rollgate/http';
import type { Context } from 'hono';
import { type NodeResponse, nodeBindingsOf } from './node-bindings.js';

/** The headers of Node's response. Node merges them with those of the standard response that Hono returns. */
class NodeHeaders implements WebHeaders {
  readonly response: NodeResponse;

  constructor(response: NodeResponse) {
    this.response = response;
  }

  get(name: string): string | null {
    const value = this.response.getHeader(name);
    return value === undefined ? null : String(value);
  }

  set(name: string, value: string): void {
    this.response.setHeader(name, value);
  }
}

/** On a context, the headers of its Node response. All limiters of a request use the same ones. */
const nodeHeaders = Symbol('Rollgate: headers of the Node response');

type WithNodeHeaders = Context & { [nodeHeaders]?: NodeHeaders | null };

/**
 * Returns the headers of Node's response with `@hono/node-server`; `undefined` elsewhere, and when the response has started.
 * `Headers` of the standard response would take more time than the rest of the limiter.
 */
export function nodeHeadersOf(c: WithNodeHeaders): WebHeaders | undefined {
  let headers = c[nodeHeaders];
  if (headers === undefined) {
    headers = createNodeHeaders(c);
    c[nodeHeaders] = headers;
  }
  return headers === null || headers.response.headersSent ? undefined : headers;
}

function createNodeHeaders(c: Context): NodeHeaders | null {
  const { incoming, outgoing } = nodeBindingsOf(c);
  // Other platforms may have bindings of the same names.
  const isNode = incoming !== undefined && outgoing?.req === incoming && typeof outgoing.setHeader === 'function';
  return isNode && isRequestOf(incoming, c.req.raw) ? new NodeHeaders(outgoing) : null;
}

/** Where `@hono/node-server` keeps Node's request in the standard request that it creates. */
let incomingKey: symbol | undefined;

/**
 * Whether a standard request is the one of this Node request. It is not when a handler passes its bindings on, as in
 * `app.request('/other', {}, c.env)`, because the response to that request is not Node's.
 */
function isRequestOf(incoming: object, request: Request): boolean {
  const properties = request as unknown as { readonly [key: symbol]: unknown };
  if (incomingKey !== undefined && properties[incomingKey] === incoming) return true;
  const key = Object.getOwnPropertySymbols(request).find((key) => properties[key] === incoming);
  incomingKey = key ?? incomingKey;
  return key !== undefined;
}
