import { invalidOption } from '@rollgate/core/store';
import { cacheByAddress, stripPort } from './client-key.js';
import { hasPrefix, type IPAddress, isIPv4, parseAddress } from './ip-address.js';

/** What an entry of `allowList` should be. */
const NETWORK = "an IP address or a network such as '10.0.0.0/8'";

/**
 * Creates the function that returns whether an address is on the list.
 *
 * @param entries Addresses, and networks such as `10.0.0.0/8`.
 * @throws TypeError with the invalid entry.
 */
export function createAllowList(entries: readonly string[]): (address: string) => boolean {
  if (!Array.isArray(entries)) throw invalidOption('allowList', 'an array of addresses and networks', entries);
  const networks = entries.map((entry, index) => parseNetwork(entry, `allowList[${index}]`));
  return cacheByAddress((address) => {
    const parsed = parseAddress(stripPort(address));
    return parsed !== undefined && networks.some((network) => contains(network, parsed));
  });
}

interface Network {
  readonly prefix: IPAddress;
  /** Of the 128 bits of an IPv6 address. */
  readonly bits: number;
  readonly isIPv4: boolean;
}

/** A network of IPv6 addresses, such as `::/0`, has no IPv4 addresses. */
function contains({ prefix, bits, isIPv4: isOfIPv4 }: Network, address: IPAddress): boolean {
  return isIPv4(address) === isOfIPv4 && hasPrefix(address, prefix, bits);
}

function parseNetwork(entry: unknown, name: string): Network {
  if (typeof entry !== 'string') throw invalidEntryError(entry, name);
  const [address = '', length, ...rest] = entry.split('/');
  const prefix = parseAddress(address);
  if (prefix === undefined || rest.length > 0) throw invalidEntryError(entry, name);
  const size = address.includes(':') ? 128 : 32;
  const ownBits = length === undefined ? size : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (ownBits > size) throw invalidEntryError(entry, name);
  const bits = ownBits + 128 - size;
  // As for addresses of a socket for both families, `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
  return { prefix, bits, isIPv4: bits >= 96 && isIPv4(prefix) };
}

const invalidEntryError = (entry: unknown, name: string) => invalidOption(name, NETWORK, entry);
