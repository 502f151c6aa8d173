import { createForwardedReader, type ForwardedAddressOptions } from '../client/forwarded-address.js';

/** What the requests of Node, Express, Fastify and Koa have in common. */
export interface WithHeaders {
  /** The headers by their lowercase names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Returns the client's address behind Cloudflare, which sets `CF-Connecting-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { cloudflareAddress, rateLimit } from '@rollgate/express';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: cloudflareAddress });
 * ```
 */
export function cloudflareAddress({ headers }: WithHeaders): string | undefined {
  return headers['cf-connecting-ip'] as string | undefined;
}

/**
 * Returns the client's address on Vercel, which sets `X-Real-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { rateLimit, vercelAddress } from '@rollgate/express';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: vercelAddress });
 * ```
 */
export function vercelAddress({ headers }: WithHeaders): string | undefined {
  return headers['x-real-ip'] as string | undefined;
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
 * import { forwardedAddress, rateLimit } from '@rollgate/node';
 *
 * const limit = rateLimit({ limit: 100, window: '1m', address: forwardedAddress({ trustedProxies: 1 }) });
 * ```
 */
export function forwardedAddress(options: ForwardedAddressOptions): (request: WithHeaders) => string | undefined {
  const toAddress = createForwardedReader(options);
  return ({ headers }) => toAddress(headers['x-forwarded-for'] as string | undefined);
}
