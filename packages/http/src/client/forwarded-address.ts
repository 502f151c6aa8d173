import { validateIntegerBetween, validateOptionNames } from '@rollgate/core/store';

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
export function createForwardedReader(
  options: ForwardedAddressOptions,
): (header: string | null | undefined) => string | undefined {
  validateOptionNames('forwardedAddress', options, ['trustedProxies']);
  const { trustedProxies } = options;
  validateIntegerBetween('trustedProxies', trustedProxies, 1, 100);
  return (header) => entryFromEnd(header ?? '', trustedProxies)?.trim() || undefined;
}

/** The entry at this place from the end. Reads no further, because a client may send thousands of entries. */
function entryFromEnd(list: string, place: number): string | undefined {
  let end = list.length;
  for (let passed = 1; ; passed++) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    if (passed === place) return list.slice(comma + 1, end);
    if (comma < 0) return undefined;
    end = comma;
  }
}
