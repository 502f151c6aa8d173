import { createForwardedReader, type ForwardedAddressOptions } from '@rollgate/http';

/** The part of `Deno.ServeHandlerInfo` that contains the client's address. */
export interface DenoInfo {
  /** The address of the connection. */
  readonly remoteAddr: object;
}

/** The part of Bun's server that returns the client's address. */
export interface BunServer {
  /** Returns the address of the request's connection; `null` when it has closed. */
  requestIP(request: Request): {
    /** The IP address of the client. */
    readonly address: string;
  } | null;
}

/**
 * Returns the client's address on Deno, from the second argument of a `Deno.serve` handler.
 *
 * @example
 * ```ts
 * import { denoAddress, rateLimit } from '@rollgate/web';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: denoAddress });
 * const handler = limit((request) => new Response('hello'));
 * ```
 */
export function denoAddress(_request: Request, info: DenoInfo): string | undefined {
  return (info?.remoteAddr as { hostname?: string } | undefined)?.hostname;
}

/**
 * Returns the client's address on Bun, from the second argument of `fetch` in `Bun.serve`.
 *
 * @example
 * ```ts
 * import { bunAddress, rateLimit } from '@rollgate/web';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: bunAddress });
 * const handler = limit((request) => new Response('hello'));
 * ```
 */
export function bunAddress(request: Request, server: BunServer): string | undefined {
  return server?.requestIP?.(request)?.address;
}

/**
 * Returns the client's address behind Cloudflare, which sets `CF-Connecting-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { cloudflareAddress, rateLimit } from '@rollgate/web';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: cloudflareAddress });
 * export default { fetch: limit((request) => new Response('hello')) };
 * ```
 */
export function cloudflareAddress(request: Request): string | undefined {
  return request.headers.get('cf-connecting-ip') ?? undefined;
}

/**
 * Returns the client's address on Vercel, which sets `X-Real-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { rateLimit, vercelAddress } from '@rollgate/web';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: vercelAddress });
 * const handler = limit((request) => new Response('hello'));
 * ```
 */
export function vercelAddress(request: Request): string | undefined {
  return request.headers.get('x-real-ip') ?? undefined;
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
 * import { forwardedAddress, rateLimit } from '@rollgate/web';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: forwardedAddress({ trustedProxies: 1 }) });
 * const handler = limit((request) => new Response('hello'));
 * ```
 */
export function forwardedAddress(options: ForwardedAddressOptions): (request: Request) => string | undefined {
  const toAddress = createForwardedReader(options);
  return (request) => toAddress(request.headers.get('x-forwarded-for'));
}
