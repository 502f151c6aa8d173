import ipaddr from 'ipaddr.js';

/** How many IPv6 addresses a process remembers the keys of, so that few requests pay for parsing theirs. */
const MAX_REMEMBERED = 10_000;

/**
 * Makes the function that turns a client's address into its key: IPv4 as it is, IPv4-mapped IPv6 as the IPv4 address
 * it is, IPv6 cut to its first `ipv6Prefix` bits, because one household or server commonly holds all addresses of a
 * /56 or /64 and could take a new one for each request.
 */
export function createClientKey(ipv6Prefix: number): (address: string | undefined) => string {
  const remembered = new Map<string, string>();

  return function clientKey(address) {
    if (!address) {
      throw new Error(
        'The request has no client address, so nobody to count it for: the server listens on a socket that is no TCP socket, or the client has left. Give the option `key` to count by something else',
      );
    }
    if (!address.includes(':')) return address;
    if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length);
    let key = remembered.get(address);
    if (key === undefined) {
      key = ipv6Key(address, ipv6Prefix);
      if (remembered.size === MAX_REMEMBERED) remembered.clear();
      remembered.set(address, key);
    }
    return key;
  };
}

function ipv6Key(address: string, prefix: number): string {
  if (!ipaddr.isValid(address)) {
    throw new Error(
      `The client's address ${JSON.stringify(address.slice(0, 80))} is no IP address: a proxy that adds a port, perhaps. Give the option \`key\` to count by something else`,
    );
  }
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const [withoutZone] = address.split('%');
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/${prefix}`)}/${prefix}`;
}
