import { copyString, validateIntegerBetween } from '@rollgate/core/store';
import { cacheByAddress, MAX_UNPARSED_LENGTH } from './cache-by-address.js';
import { cutAddress, formatIPv4, formatIPv6, hasPrefix, isIPv4, parseAddress } from './ip-address.js';

/** The prefix with which Node writes IPv4 addresses on a socket for both families. */
const MAPPED_PREFIX = '::ffff:';

/**
 * Creates the function that turns a client's address into its key:
 *
 * - IPv4 as it is, even if it is written as IPv6 (`::ffff:0:0/96`) or translated by NAT64 (`64:ff9b::/96`).
 * - IPv6 cut to its first `ipv6Prefix` bits. One household or server commonly has all addresses of a /56 or /64, and could
 *   use another one for each request. This includes unique local (`fc00::/7`), 6to4 and Teredo addresses.
 * - Link-local addresses (`fe80::/10`) in full, with their zone, because all of them share one prefix.
 *
 * A port that a proxy added is dropped. Text that is not an address is its own key, cut to 64 characters.
 *
 * @param ipv6Prefix 1 to 128 bits.
 * @throws TypeError, RangeError for another prefix.
 */
export function createClientKey(ipv6Prefix: number): (address: string) => string {
  validateIntegerBetween('ipv6Prefix', ipv6Prefix, 1, 128);
  // A copy, for the same reason as the copy of the address.
  const keyOf = cacheByAddress((address) => copyString(parseKey(address, ipv6Prefix)));

  return function clientKey(address) {
    if (!address.includes(':')) return address.slice(0, MAX_UNPARSED_LENGTH);
    if (address.startsWith(MAPPED_PREFIX) && address.includes('.') && !address.includes(':', MAPPED_PREFIX.length)) {
      return address.slice(MAPPED_PREFIX.length, MAX_UNPARSED_LENGTH);
    }
    return keyOf(address);
  };
}

/** Removes the brackets and the port that a proxy may have added. */
export function stripPort(address: string): string {
  const [, bracketed, dotted] = /^(?:\[(.*)\](?::\d+)?|(?:::ffff:)?((?:\d+\.){3}\d+):\d+)$/i.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}

const LINK_LOCAL = [0xfe80];
/** The prefix of NAT64 that defines where the IPv4 address is. In 64:ff9b:1::/48 the operator chooses. */
const NAT64 = [0x64, 0xff9b];

function parseKey(text: string, prefix: number): string {
  const bare = stripPort(text);
  const address = bare.includes(':') ? parseAddress(bare) : undefined;
  if (address === undefined) return bare.slice(0, MAX_UNPARSED_LENGTH);
  if (isIPv4(address) || hasPrefix(address, NAT64, 96)) return formatIPv4(address);
  if (hasPrefix(address, LINK_LOCAL, 10)) return (formatIPv6(address) + zoneOf(bare)).slice(0, MAX_UNPARSED_LENGTH);
  return `${formatIPv6(cutAddress(address, prefix))}/${prefix}`;
}

function zoneOf(text: string): string {
  return /%.*/.exec(text)?.[0] ?? '';
}
