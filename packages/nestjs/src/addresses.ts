import type { ExecutionContext } from '@nestjs/common';
import {
  type ForwardedAddressOptions,
  cloudflareAddress as ofCloudflare,
  forwardedAddress as ofProxies,
  vercelAddress as ofVercel,
} from '@rollgate/http';
import { headersOf } from './nest-framework.js';

/**
 * Returns the client's address behind Cloudflare, which sets `CF-Connecting-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { cloudflareAddress, RateLimitModule } from '@rollgate/nestjs';
 *
 * const module = RateLimitModule.forRoot({ limit: 100, window: '1m', address: cloudflareAddress });
 * ```
 */
export function cloudflareAddress(context: ExecutionContext): string | undefined {
  return ofCloudflare({ headers: headersOf(context) });
}

/**
 * Returns the client's address on Vercel, which sets `X-Real-IP`. Elsewhere, any client can forge it.
 *
 * @example
 * ```ts
 * import { RateLimitModule, vercelAddress } from '@rollgate/nestjs';
 *
 * const module = RateLimitModule.forRoot({ limit: 100, window: '1m', address: vercelAddress });
 * ```
 */
export function vercelAddress(context: ExecutionContext): string | undefined {
  return ofVercel({ headers: headersOf(context) });
}

/**
 * Creates a function that returns the client's address behind your own proxies, by `X-Forwarded-For`, also for WebSockets. Each proxy
 * appends the address that it sees, so the entries before those of your proxies come from the client. It ignores them.
 *
 * Only use it where clients cannot reach the server past the proxies. A request with fewer entries has no address, so it
 * fails.
 *
 * @throws TypeError, RangeError if `trustedProxies` is not an integer from 1 to 100.
 *
 * @example
 * ```ts
 * import { forwardedAddress, RateLimitModule } from '@rollgate/nestjs';
 *
 * const address = forwardedAddress({ trustedProxies: 1 });
 * const module = RateLimitModule.forRoot({ limit: 100, window: '1m', address });
 * ```
 */
export function forwardedAddress(options: ForwardedAddressOptions): (context: ExecutionContext) => string | undefined {
  const toAddress = ofProxies(options);
  return (context) => toAddress({ headers: headersOf(context) });
}
