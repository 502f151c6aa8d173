import { validate } from '@rollgate/core/store';

/** The options of `forwardedAddress`. */
export interface ForwardedAddressOptions {
  /** The number of your proxies that each request passes, 1 to 100. */
  trustedProxies: number;
}

/**
 * Creates a function that returns the client's address from the value of `X-Forwarded-For`. Each proxy appends the address
 * that it sees, so the entries before those of the trusted proxies come from the client. It ignores them.
 *
 * @throws TypeError, RangeError if `trustedProxies` is not an integer from 1 to 100.
 */
export function createForwardedReader({
  trustedProxies,
}: ForwardedAddressOptions): (header: string | null | undefined) => string | undefined {
  validate.integerBetween('trustedProxies', trustedProxies, 1, 100);
  return (header) => header?.split(',').at(-trustedProxies)?.trim() || undefined;
}
