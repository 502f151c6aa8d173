import { copyString, validate } from '@rollgate/core/store';
import ipaddr from 'ipaddr.js';
import { MAX_CACHED_ADDRESSES, MAX_UNPARSED_LENGTH, stripPort } from './client-key.js';

/**
 * Creates the function that returns whether an address is on the list.
 *
 * @param entries Addresses, and networks such as `10.0.0.0/8`.
 * @throws TypeError with the invalid entry.
 */
export function createAllowList(entries: readonly string[]): (address: string) => boolean {
  if (!Array.isArray(entries)) throw validate.invalidOption('allowList', 'an array of addresses and networks', entries);
  const networks = entries.map((entry, index) => parseNetwork(entry, `allowList[${index}]`));
  const cache = new Map<string, boolean>();
  const isListed = (address: string) => {
    const bare = stripPort(address);
    if (!isAddress(bare)) return false;
    const parsed = ipaddr.process(bare);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
  return function isOnAllowList(address) {
    let isAllowed = cache.get(address);
    if (isAllowed === undefined) {
      isAllowed = isListed(address);
      if (cache.size === MAX_CACHED_ADDRESSES) cache.clear();
      // A copy, because an address cut out of a header would keep the whole header in memory.
      if (address.length <= MAX_UNPARSED_LENGTH) cache.set(copyString(address), isAllowed);
    }
    return isAllowed;
  };
}

/** Rejects short and octal forms that operating systems accept, such as `10.1` for `10.0.0.1`. */
function isAddress(text: string): boolean {
  return text.includes(':') ? ipaddr.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text);
}

function parseNetwork(entry: unknown, name: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (typeof entry !== 'string') throw invalidEntryError(entry, name);
  const [address = '', length, ...rest] = entry.split('/');
  if (!isAddress(address) || rest.length > 0) throw invalidEntryError(entry, name);
  const parsed = ipaddr.parse(address);
  const size = parsed.kind() === 'ipv4' ? 32 : 128;
  const bits = length === undefined ? size : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (bits > size) throw invalidEntryError(entry, name);
  // As for addresses of a socket for both families, `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
  if (bits >= 96 && parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    return [parsed.toIPv4Address(), bits - 96];
  }
  return [parsed, bits];
}

const invalidEntryError = (entry: unknown, name: string) =>
  validate.invalidOption(name, "an IP address or a network such as '10.0.0.0/8'", entry);
