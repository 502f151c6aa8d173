import { copyString, validate } from '@rollgate/core/store';
import ipaddr from 'ipaddr.js';

/** How many IPv6 addresses a process remembers the keys of, so that few requests pay for parsing theirs. */
export const MAX_REMEMBERED = 10_000;

/** How Node writes IPv4 addresses on a socket for both families. */
const MAPPED = '::ffff:';

/** What is kept of an address that is none: it comes from a header that anybody can fill. */
export const LONGEST_UNKNOWN = 64;

/**
 * Creates the function that turns a client's address into its key:
 *
 * - IPv4 as it is, also when it is written as IPv6 (`::ffff:0:0/96`) or was translated by NAT64 (`64:ff9b::/96`).
 * - IPv6 cut to its first `ipv6Prefix` bits, because one household or server commonly holds all addresses of a /56 or /64
 *   and could take a new one for each request. This includes unique local (`fc00::/7`), 6to4 and Teredo addresses.
 * - Link-local addresses (`fe80::/10`) in full, with their zone, because all of them share one prefix.
 *
 * A port that a proxy added is dropped. Text that is not an address is its own key, cut to 64 characters.
 *
 * @param ipv6Prefix 1 to 128.
 * @throws TypeError, RangeError for another prefix.
 */
export function createClientKey(ipv6Prefix: number): (address: string) => string {
  validate.integerBetween('ipv6Prefix', ipv6Prefix, 1, 128);
  const remembered = new Map<string, string>();

  return function clientKey(address) {
    if (!address.includes(':')) return address.slice(0, LONGEST_UNKNOWN);
    if (address.startsWith(MAPPED) && address.includes('.') && !address.includes(':', MAPPED.length)) {
      return address.slice(MAPPED.length, LONGEST_UNKNOWN);
    }
    let key = remembered.get(address);
    if (key === undefined) {
      key = parsedKey(address, ipv6Prefix);
      if (remembered.size === MAX_REMEMBERED) remembered.clear();
      // As copies: both may be part of a header, which would stay in memory with them.
      if (address.length <= LONGEST_UNKNOWN) remembered.set(copyString(address), copyString(key));
    }
    return key;
  };
}

/** Without the port that a proxy added. */
export function bareAddress(address: string): string {
  const [, bracketed, dotted] = /^(?:\[(.*)\](?::\d+)?|(?:::ffff:)?((?:\d+\.){3}\d+):\d+)$/i.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}

function parsedKey(address: string, prefix: number): string {
  const bare = bareAddress(address);
  if (!ipaddr.isValid(bare)) return bare.slice(0, LONGEST_UNKNOWN);
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const range = parsed.range();
  if (range === 'linkLocal') return parsed.toString().slice(0, LONGEST_UNKNOWN);
  // Only 64:ff9b::/96 says where the IPv4 address is; in 64:ff9b:1::/48 that is up to the operator.
  const bytes = parsed.toByteArray();
  if (range === 'rfc6052' && bytes[5] === 0) return new ipaddr.IPv4(bytes.slice(-4)).toString();
  const [withoutZone] = bare.split('%');
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/${prefix}`)}/${prefix}`;
}
