import { createForwardedReader, type ForwardedAddressOptions } from '@rollgate/http';
import type { Context } from 'hono';
import { nodeBindingsOf } from './node-headers.js';

/**
 * Returns the client's address on Node, with `@hono/node-server`.
 *
 * @example
 * ```ts
 * import { nodeAddress, rateLimit } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: nodeAddress }));
 * ```
 */
export function nodeAddress(c: Context): string | undefined {
  return nodeBindingsOf(c).incoming?.socket.remoteAddress;
}

/**
 * Returns the client's address on Bun, where `app.fetch` gets Bun's server as its second argument.
 *
 * @example
 * ```ts
 * import { bunAddress, rateLimit } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: bunAddress }));
 * ```
 */
export function bunAddress(c: Context): string | undefined {
  const env = c.env as (Partial<BunServer> & { server?: Partial<BunServer> }) | undefined;
  return (env?.server ?? env)?.requestIP?.(c.req.raw)?.address;
}

interface BunServer {
  requestIP(request: Request): { readonly address: string } | null;
}

/**
 * Returns the client's address on Deno, where `app.fetch` gets the connection's info as its second argument.
 *
 * @example
 * ```ts
 * import { denoAddress, rateLimit } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: denoAddress }));
 * ```
 */
export function denoAddress(c: Context): string | undefined {
  return (c.env as { remoteAddr?: { hostname?: string } } | undefined)?.remoteAddr?.hostname;
}

/**
 * Returns the client's address behind Cloudflare, which sets `CF-Connecting-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { cloudflareAddress, rateLimit } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: cloudflareAddress }));
 * ```
 */
export function cloudflareAddress(c: Context): string | undefined {
  return c.req.header('cf-connecting-ip');
}

/**
 * Returns the client's address on Vercel, which sets `X-Real-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { rateLimit, vercelAddress } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: vercelAddress }));
 * ```
 */
export function vercelAddress(c: Context): string | undefined {
  return c.req.header('x-real-ip');
}

/**
 * Creates a function that returns the client's address behind your own proxies, by `X-Forwarded-For`. Each proxy appends
 * the address that it sees, so the entries before those of your proxies come from the client. It ignores them.
 *
 * Only use it where clients cannot reach the server past the proxies. A request with fewer entries has no address, so it
 * fails.
 *
 * @throws TypeError, RangeError if `trustedProxies` is not an integer from 1 to 100.
 *
 * @example
 * ```ts
 * import { forwardedAddress, rateLimit } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: forwardedAddress({ trustedProxies: 1 }) }));
 * ```
 */
export function forwardedAddress(options: ForwardedAddressOptions): (c: Context) => string | undefined {
  const toAddress = createForwardedReader(options);
  return (c) => toAddress(c.req.header('x-forwarded-for'));
}
