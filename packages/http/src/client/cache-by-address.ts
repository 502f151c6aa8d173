import { copyString } from '@rollgate/core/store';

/** The number of addresses whose result is cached, so that few requests pay for parsing. */
const MAX_CACHED_ADDRESSES = 10_000;

/** The longest key of text that is not an address, because it comes from a header that any client can set. */
export const MAX_UNPARSED_LENGTH = 64;

/** Returns a function that caches what `compute` returns for an address. Longer text is not cached. */
export function cacheByAddress<Result extends string | boolean>(
  compute: (address: string) => Result,
): (address: string) => Result {
  const cache = new Map<string, Result>();
  return function computeOnce(address) {
    let result = cache.get(address);
    if (result === undefined) {
      result = compute(address);
      if (cache.size === MAX_CACHED_ADDRESSES) cache.clear();
      // A copy, because an address cut out of a header would keep the whole header in memory.
      if (address.length <= MAX_UNPARSED_LENGTH) cache.set(copyString(address), result);
    }
    return result;
  };
}
