/** The groups of 16 bits of an IPv6 address. An IPv4 address has those of `::ffff:0:0/96`. */
export type IPAddress = readonly number[];

const GROUPS = 8;
const GROUP_BITS = 16;
const IPV4 = /^[\d.]{7,15}$/;
/** The URL parser drops line breaks, and ends the host at some characters. An address has none of these. */
const IPV6 = /^[\da-f:.]{2,45}$/i;
/** The characters of RFC 6874. Names of bridges and virtual networks have dashes and dots. */
const ZONE = /%[\w.~-]+$/;

/**
 * Parses an address by the URL parser of the platform (WHATWG URL, section 3.5). It rejects short and octal forms of IPv4 that
 * operating systems accept, such as `10.1` for `10.0.0.1`. Ignores the zone of an IPv6 address.
 *
 * @returns `undefined` for any other text.
 */
export function parseAddress(text: string): IPAddress | undefined {
  const address = IPV4.test(text) ? `::ffff:${text}` : text.replace(ZONE, '');
  if (!IPV6.test(address) || !URL.canParse(toUrl(address))) return undefined;
  const [start = [], end = []] = toHost(address).split('::').map(parseGroups);
  return [...start, ...Array<number>(GROUPS - start.length - end.length).fill(0), ...end];
}

/** Whether it is an IPv4 address, even if it was written as an IPv6 address. */
export function isIPv4(address: IPAddress): boolean {
  return hasPrefix(address, [0, 0, 0, 0, 0, 0xffff], 96);
}

/** Whether the first `bits` bits of an address are those of `prefix`. */
export function hasPrefix(address: IPAddress, prefix: IPAddress, bits: number): boolean {
  return address.every((group, index) => ((group ^ (prefix[index] ?? 0)) & maskOf(index, bits)) === 0);
}

/** Returns the address with all but its first `bits` bits cleared. */
export function cutAddress(address: IPAddress, bits: number): IPAddress {
  return address.map((group, index) => group & maskOf(index, bits));
}

/** Returns the IPv4 address in the last 32 bits. */
export function formatIPv4(address: IPAddress): string {
  return address
    .slice(-2)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** Returns the canonical form (RFC 5952) of an IPv6 address. */
export function formatIPv6(address: IPAddress): string {
  return toHost(address.map((group) => group.toString(16)).join(':'));
}

/** The bits of the group at `index` that are among the first `bits` bits of an address. */
function maskOf(index: number, bits: number): number {
  const own = Math.min(Math.max(bits - index * GROUP_BITS, 0), GROUP_BITS);
  return (0xffff << (GROUP_BITS - own)) & 0xffff;
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

const toUrl = (address: string) => `http://[${address}]`;

const toHost = (address: string) => new URL(toUrl(address)).hostname.slice(1, -1);
