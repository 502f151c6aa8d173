import { validate } from '@rollgate/core';
import ipaddr from 'ipaddr.js';

/**
 * Makes the function that tells whether an address is on the list: addresses, and networks such as `10.0.0.0/8`.
 *
 * @throws TypeError naming the entry that is neither.
 */
export function createAllowList(entries: readonly string[]): (address: string) => boolean {
  if (!Array.isArray(entries)) throw validate.misuse('allowList', 'an array of addresses and networks', entries);
  const networks = entries.map((entry, index) => networkOf(entry, `allowList[${index}]`));
  return function isAllowed(address) {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
}

function networkOf(entry: unknown, name: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (typeof entry === 'string' && ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (typeof entry !== 'string' || !ipaddr.isValid(entry)) {
    throw validate.misuse(name, "an IP address, or a network such as '10.0.0.0/8'", entry);
  }
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
