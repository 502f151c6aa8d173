import { createForwardedReader, type ForwardedAddressOptions } from '@rollgate/http';
import type { Request } from './options.js';

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
export function forwardedAddress(options: ForwardedAddressOptions): (request: Request) => string | undefined {
  const toAddress = createForwardedReader(options);
  return (request) => toAddress(request.headers['x-forwarded-for'] as string | undefined);
}
