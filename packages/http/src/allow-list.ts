import { copyString, validate } from '@rollgate/core/store';
import ipaddr from 'ipaddr.js';
import { bareAddress, LONGEST_UNKNOWN, MAX_REMEMBERED } from './client-key.js';

/**
 * Makes the function that tells whether an address is on the list: addresses, and networks such as `10.0.0.0/8`.
 *
 * @throws TypeError naming the entry that is neither.
 */
export function createAllowList(entries: readonly string[]): (address: string) => boolean {
  if (!Array.isArray(entries)) throw validate.invalidOption('allowList', 'an array of addresses and networks', entries);
  const networks = entries.map((entry, index) => networkOf(entry, `allowList[${index}]`));
  const remembered = new Map<string, boolean>();
  const isListed = (address: string) => {
    const bare = bareAddress(address);
    if (!isAddress(bare)) return false;
    const parsed = ipaddr.process(bare);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
  return function isAllowed(address) {
    let allowed = remembered.get(address);
    if (allowed === undefined) {
      allowed = isListed(address);
      if (remembered.size === MAX_REMEMBERED) remembered.clear();
      // As a copy: the address may be part of a header field, which would stay in memory with it.
      if (address.length <= LONGEST_UNKNOWN) remembered.set(copyString(address), allowed);
    }
    return allowed;
  };
}

/** Not all that the system's own functions take: `10.1` is `10.0.0.1` to them, and `010.0.0.1` is `8.0.0.1`. */
function isAddress(text: string): boolean {
  return text.includes(':') ? ipaddr.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text);
}

function networkOf(entry: unknown, name: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (typeof entry !== 'string') throw noNetwork(entry, name);
  const [address = '', length, ...rest] = entry.split('/');
  if (!isAddress(address) || rest.length > 0) throw noNetwork(entry, name);
  const parsed = ipaddr.parse(address);
  const size = parsed.kind() === 'ipv4' ? 32 : 128;
  const bits = length === undefined ? size : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (bits > size) throw noNetwork(entry, name);
  // As addresses are, that a socket for both families tells: `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
  if (bits >= 96 && parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    return [parsed.toIPv4Address(), bits - 96];
  }
  return [parsed, bits];
}

const noNetwork = (entry: unknown, name: string) =>
  validate.invalidOption(name, "an IP address, or a network such as '10.0.0.0/8'", entry);
