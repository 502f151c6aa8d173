import { BlockList, isIP, isIPv6 } from 'node:net';

const WITH_PORT = /^(?:\[(.*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/;
const HEX_DIGIT_OR_BRACKET = /^[\da-f:[]/i;

/** Whether the text is an IP address, possibly in brackets or with a port. */
export function isAddress(text: string): boolean {
  return toBareAddress(text) !== undefined;
}

/** Returns the address without brackets and port, or `undefined` if the text is not an address. */
export function toBareAddress(text: string): string | undefined {
  if (!HEX_DIGIT_OR_BRACKET.test(text)) return undefined;
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const bare = bracketed ?? dotted ?? text;
  return isIP(bare) === 0 ? undefined : bare;
}

const PRIVATE_NETWORKS = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
  'fe80::/10',
  '::1/128',
];

/** A set of networks. */
export class Networks {
  readonly #list = new BlockList();

  /** @throws RangeError when a network is not an address or an address with a prefix length. */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      const bits = family === 'ipv6' ? 128 : 32;
      if (isIP(address) === 0 || Number(length ?? bits) > bits) throw new RangeError(network);
      this.#list.addSubnet(address, Number(length ?? bits), family);
    }
  }

  /** Returns false for text that is not an address. */
  contains(text: string): boolean {
    const address = toBareAddress(text);
    return address !== undefined && this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}

/** Networks that no client on the Internet has: private, shared, link-local and loopback. */
export const privateNetworks = new Networks(PRIVATE_NETWORKS);

/** Whether the address belongs to a private network. Accepts the key of an IPv6 prefix. */
export function isPrivateAddress(key: string): boolean {
  return privateNetworks.contains(key.replace(/\/\d+$/, ''));
}
