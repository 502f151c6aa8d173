import { copyString, validateIntegerBetween } from '@rollgate/core/store';
import { cutAddress, formatIPv4, formatIPv6, hasPrefix, type IPAddress, parseAddress } from './ip-address.js';

/** The number of addresses whose result is cached, so that few requests pay for parsing. */
const MAX_CACHED_ADDRESSES = 10_000;

/** The longest key of text that is not an address, because it comes from a header that any client can set. */
const MAX_UNPARSED_LENGTH = 64;

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

/** How Node writes the prefix of IPv4 addresses on a socket for both families. */
const MAPPED_PREFIX = '::ffff:';
/** A mapped address that needs no parsing. */
const MAPPED = /^::ffff:(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * Creates the function that turns a client's address into its key:
 *
 * - IPv4 as it is, even if an IPv6 address contains it: mapped (`::ffff:192.0.2.1`), compatible (`::192.0.2.1`), translated
 *   (`::ffff:0:192.0.2.1`) or by NAT64 (`64:ff9b::192.0.2.1`).
 * - IPv6 cut to its first `ipv6Prefix` bits. One household or server commonly has all addresses of a /56 or /64, and could
 *   use another one for each request. This includes unique local (`fc00::/7`), 6to4 and Teredo addresses.
 * - Link-local addresses (`fe80::/10`) in full, with their zone, because all of them share one prefix.
 *
 * A port that a proxy added is dropped. Text that is not an address is its own key, cut to 64 characters.
 *
 * @param ipv6Prefix 1 to 128 bits.
 * @throws TypeError, RangeError for another prefix.
 *
 * @example
 * ```ts
 * import { createClientKey } from '@rollgate/express';
 *
 * const toKey = createClientKey(56);
 * toKey('::ffff:192.0.2.1'); // => '192.0.2.1'
 * toKey('2001:db8:1:2ff:3::4'); // => '2001:db8:1:200::/56'
 * ```
 */
export function createClientKey(ipv6Prefix: number): (address: string) => string {
  validateIntegerBetween('ipv6Prefix', ipv6Prefix, 1, 128);
  // A copy, for the same reason as the copy of the address.
  const keyOf = cacheByAddress((address) => copyString(parseKey(address, ipv6Prefix)));

  return function clientKey(address) {
    if (!address.includes(':')) return address.slice(0, MAX_UNPARSED_LENGTH);
    return MAPPED.test(address) ? address.slice(MAPPED_PREFIX.length) : keyOf(address);
  };
}

/** Removes the brackets and the port that a proxy may have added. */
export function stripPort(address: string): string {
  const [, bracketed, dotted] = /^(?:\[(.*)\](?::\d+)?|(?:::ffff:)?((?:\d+\.){3}\d+):\d+)$/i.exec(address) ?? [];
  return bracketed || dotted || address;
}

const LINK_LOCAL = [0xfe80];

/** The prefixes of 96 bits that an IPv4 address follows. */
const IPV4_PREFIXES: readonly IPAddress[] = [
  [0, 0, 0, 0, 0, 0xffff], // Mapped (RFC 4291, section 2.5.5.2).
  [], // Compatible (RFC 4291, section 2.5.5.1), which is deprecated.
  [0, 0, 0, 0, 0xffff, 0], // Translated (RFC 2765, section 2.1).
  [0x64, 0xff9b], // NAT64 (RFC 6052, section 2.1). In 64:ff9b:1::/48, the operator chooses the place of the IPv4 address.
];

function parseKey(text: string, prefix: number): string {
  const bare = stripPort(text);
  const address = bare.includes(':') ? parseAddress(bare) : undefined;
  if (address === undefined) return bare.slice(0, MAX_UNPARSED_LENGTH);
  if (containsIPv4(address)) return formatIPv4(address);
  if (hasPrefix(address, LINK_LOCAL, 10)) return (formatIPv6(address) + zoneOf(bare)).slice(0, MAX_UNPARSED_LENGTH);
  return `${formatIPv6(cutAddress(address, prefix))}/${prefix}`;
}

/** `::`, `::1` and the other addresses of ::/104 contain none, because no host has an IPv4 address that starts with 0. */
function containsIPv4(address: IPAddress): boolean {
  return IPV4_PREFIXES.some((prefix) => hasPrefix(address, prefix, 96)) && !hasPrefix(address, [], 104);
}

function zoneOf(text: string): string {
  return /%.*/.exec(text)?.[0] ?? '';
}
