// What the log reader of the command line imports from Node, for browsers.

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

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^[\da-f:.]*:[\da-f:.]*$/i;

export const isIPv6 = (text: string): boolean => IPV6.test(text) && URL.canParse(`http://[${text}]`);

export const isIP = (text: string): 0 | 4 | 6 => (IPV4.test(text) ? 4 : isIPv6(text) ? 6 : 0);

/** Networks, as the class of node:net. */
export class BlockList {
  readonly #networks: [bits: string, family: string][] = [];

  addSubnet(address: string, length: number, family: string): void {
    this.#networks.push([toBits(address).slice(0, length), family]);
  }

  check(address: string, family: string): boolean {
    const bits = toBits(address);
    return this.#networks.some(([prefix, own]) => own === family && bits.startsWith(prefix));
  }
}

/** The bits of an address, as text. */
function toBits(address: string): string {
  if (!address.includes(':'))
    return address
      .split('.')
      .map((byte) => Number(byte).toString(2).padStart(8, '0'))
      .join('');
  const { hostname } = new URL(`http://[${address}]`);
  const [start = [], end = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter(Boolean));
  const groups = [...start, ...new Array<string>(8 - start.length - end.length).fill('0'), ...end];
  return groups.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('');
}
