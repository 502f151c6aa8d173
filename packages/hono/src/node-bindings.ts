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

/** The part of Node's response that the limiter uses. */
export interface NodeResponse {
  readonly req: unknown;
  readonly headersSent: boolean;
  statusCode: number;
  readonly writableEnded: boolean;
  getHeader(name: string): unknown;
  setHeader(name: string, value: string | number): unknown;
  removeHeader(name: string): void;
}

/** Returns Node's request and response. Elsewhere, the object has other contents or is empty. */
export function nodeBindingsOf(c: Context): NodeBindings {
  const env = (c.env ?? {}) as NodeBindings & { readonly server?: NodeBindings };
  return env.incoming === undefined && env.server !== undefined ? env.server : env;
}
