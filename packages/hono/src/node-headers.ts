import type { WebHeaders } from '@rollgate/http';
import type { Context } from 'hono';
import { type NodeResponse, nodeBindingsOf } from './node-bindings.js';

/** The headers of Node's response. Node merges them with those of the standard response that Hono returns. */
class NodeHeaders implements WebHeaders {
  readonly #response: NodeResponse;

  constructor(response: NodeResponse) {
    this.#response = response;
  }

  get(name: string): string | null {
    const value = this.#response.getHeader(name);
    return value === undefined ? null : String(value);
  }

  set(name: string, value: string): void {
    this.#response.setHeader(name, value);
  }
}

/**
 * Returns the headers of Node's response with `@hono/node-server`; `undefined` elsewhere, and when the response has started.
 * `Headers` of the standard response would take more time than the rest of the limiter.
 */
export function nodeHeadersOf(c: Context): WebHeaders | undefined {
  const { incoming, outgoing } = nodeBindingsOf(c);
  // Other platforms may have bindings of the same names.
  const isNode = incoming !== undefined && outgoing?.req === incoming && typeof outgoing.setHeader === 'function';
  return isNode && !outgoing.headersSent ? new NodeHeaders(outgoing) : undefined;
}
