// What the log reader of the command line imports from Node, for browsers.

import { hasPrefix, type IPAddress, parseAddress } from '../../../http/src/client/ip-address.js';

/** Where an IPv4 address begins in the bits of an IPv6 address. */
const IPV4_START = 96;

/** Decodes UTF-8 in chunks, as the class of node:string_decoder. */
export class StringDecoder {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  write(chunk: Uint8Array): string {
    return this.#decoder.decode(chunk, { stream: true });
  }

  end(): string {
    return this.#decoder.decode();
  }
}

/** Keeps the whole text, because browsers have no hash that is synchronous. A long key then takes more memory. */
export const createHash = () => ({ update: (text: string) => ({ digest: () => text }) });

/** Most addresses of a log, which need no parser. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

export const isIP = (text: string): 0 | 4 | 6 =>
  IPV4.test(text) ? 4 : text.includes(':') && parseAddress(text) !== undefined ? 6 : 0;

export const isIPv6 = (text: string): boolean => isIP(text) === 6;

/** Networks, as the class of node:net. */
export class BlockList {
  readonly #networks: [prefix: IPAddress, bits: number][] = [];

  addSubnet(address: string, length: number, family: string): void {
    this.#networks.push([parseAddress(address)!, family === 'ipv4' ? length + IPV4_START : length]);
  }

  check(address: string): boolean {
    const parsed = parseAddress(address)!;
    return this.#networks.some(([prefix, bits]) => hasPrefix(parsed, prefix, bits));
  }
}
