import ipaddr from 'ipaddr.js';

/** How many IPv6 addresses a process remembers the keys of, so that few requests pay for parsing theirs. */
export const MAX_REMEMBERED = 10_000;

/** What is kept of an address that is none: it comes from a header that anybody can fill. */
export const LONGEST_UNKNOWN = 64;

/**
 * Makes the function that turns a client's address into its key: IPv4 as it is, IPv4-mapped IPv6 as the IPv4 address
 * it is, IPv6 cut to its first `ipv6Prefix` bits, because one household or server commonly holds all addresses of a
 * /56 or /64 and could take a new one for each request. A port that a proxy added is dropped; text that is no address
 * counts for itself.
 */
export function createClientKey(ipv6Prefix: number): (address: string) => string {
  const remembered = new Map<string, string>();

  return function clientKey(address) {
    if (!address.includes(':')) return address.slice(0, LONGEST_UNKNOWN);
    if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length, LONGEST_UNKNOWN);
    let key = remembered.get(address);
    if (key === undefined) {
      key = parsedKey(address, ipv6Prefix);
      if (remembered.size === MAX_REMEMBERED) remembered.clear();
      // As a copy: the address may be part of a header field, which would stay in memory with it.
      if (address.length <= LONGEST_UNKNOWN) remembered.set(Buffer.from(address).toString(), key);
    }
    return key;
  };
}

/** Without the port that a proxy added. */
export function bareAddress(address: string): string {
  const [, bracketed, dotted] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}

function parsedKey(address: string, prefix: number): string {
  const bare = bareAddress(address);
  if (!ipaddr.isValid(bare)) return bare.slice(0, LONGEST_UNKNOWN);
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const [withoutZone] = bare.split('%');
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/${prefix}`)}/${prefix}`;
}
