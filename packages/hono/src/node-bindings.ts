import type { NodeResponse as CommonResponse } from '@rollgate/http';
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
