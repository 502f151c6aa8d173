import { BlockList, isIP, isIPv6 } from 'node:net';

const WITH_PORT = /^(?:\[(.*)\]|(?:::ffff:)?(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;
const HEX_DIGIT_OR_BRACKET = /^[\da-f:[]/i;

/** Returns the address without brackets and port, or `undefined` if the text is not an address. */
export function toBareAddress(text: string): string | undefined {
  if (!HEX_DIGIT_OR_BRACKET.test(text)) return undefined;
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const bare = bracketed ?? dotted ?? text;
  return isIP(bare) === 0 ? undefined : bare;
}

/** Whether the text is an IP address, possibly in brackets or with a port. */
export const isAddress = (text: string): boolean => toBareAddress(text) !== undefined;

/** What programs write for a missing value. */
const EMPTY = /^(?:[-_ ]*|unknown|null|undefined|none|nil|n\/a|\(null\)|<nil>|\(none\))$/i;

/** Returns `undefined` for text that stands for a missing value. */
export function valueOrUndefined(text: string | undefined): string | undefined {
  return text === undefined || EMPTY.test(text) ? undefined : text;
}

/** A blank, a comma and the like, as logs of the W3C format encode them, some of them twice. */
const ENCODED = /%(?:25)*(2[0-9a-f]|3[abd]|5[bd]|7[bcd]|09)/gi;
/** A name may precede the address, as in `xff="192.0.2.1"`. */
const NAME = /^[\w-]+=(?=[\s"'`([{<\\]*[\da-f:])/i;
const PUNCTUATION_BEFORE = /^[\s"'`({<\\]+/;
const BRACKETS = /^\[[a-z]*\]?[\s"']*|[\s"']*\]$/gi;
const PUNCTUATION_AFTER = /[\s"'`)}>\\;]+$/;

/** Returns an entry of a list without the punctuation around it, and without the port of an address. */
function toEntry(text: string): string {
  const entry = text.replace(NAME, '').replace(PUNCTUATION_BEFORE, '').replace(PUNCTUATION_AFTER, '');
  // A bracket may belong to the address, to the list, or to something before it.
  return toBareAddress(entry) ?? toBareAddress(entry.replace(BRACKETS, '')) ?? entry;
}

/**
 * The entries of `X-Forwarded-For`, or of `Forwarded` (RFC 7239), without those that stand for no value. Logs quote, bracket
 * and encode such a list in many ways, and separate it by commas, blanks or bars.
 */
export function entriesOf(list: string): string[] {
  const text = list.includes('%')
    ? list.replace(ENCODED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : list;
  const isForwarded = /\bfor=/i.test(text);
  const parts = text.split(isForwarded ? /[,;]/ : /[,;|\s+]+/);
  const found: string[] = [];
  for (const part of parts) {
    const [, forwarded] = /^[\s+"]*for=(.*)$/i.exec(part) ?? [];
    if (isForwarded && forwarded === undefined) continue;
    const entry = toEntry(forwarded ?? part);
    if (valueOrUndefined(entry) !== undefined) found.push(entry);
  }
  return found;
}

/**
 * Whether the text is a list of one or more addresses. A client may have written something else at its start, which no other
 * text with an address in it, such as the name of a browser, looks like.
 */
export function isAddressList(text: string): boolean {
  const entries = entriesOf(text);
  if (!entries.some(isAddress)) return false;
  return entries.every(isAddress) || !/[^\s,][\s;|]+[^\s,]/.test(text.trim()) || /\bfor=/i.test(text);
}

const PRIVATE_NETWORKS = [
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '169.254.0.0/16', '100.64.0.0/10'],
  ...['fc00::/7', 'fe80::/10', '::1/128'],
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
export const isPrivateAddress = (key: string): boolean => privateNetworks.contains(key.replace(/\/\d+$/, ''));

/** Which proxies wrote the end of the list: their number, or their networks. */
export type TrustedProxies = number | Networks;

/** How often a list was there, how often not, and how often it was ignored because no trusted proxy sent it. Lines of a sample count twice. */
export interface ForwardedCounts {
  lists: number;
  missing: number;
  ignored: number;
}

/** Finds the client of each request, in every format. */
export class ClientFinder {
  readonly counts: ForwardedCounts = { lists: 0, missing: 0, ignored: 0 };
  readonly #trusted: TrustedProxies;

  constructor(trusted: TrustedProxies) {
    this.#trusted = trusted;
  }

  /** Returns the address that sent a request. Some servers log the forwarded list instead. */
  byAddress(address: string | undefined): string | undefined {
    if (address === undefined) return undefined;
    const bare = toBareAddress(address);
    if (bare !== undefined) return bare;
    const entries = entriesOf(address);
    return entries.length > 1 && isAddressList(address)
      ? this.#select(entries)
      : entries.length > 1
        ? address
        : entries[0];
  }

  /**
   * Returns the client of a forwarded list such as `client, proxy 1, proxy 2`, like the adapters do. A client can forge the
   * start of the list, so it counts from the right, beginning with `peer`, the address that sent the request. With networks,
   * the client is the last address outside of them. With a number, as many hops are skipped, the first of which is the peer.
   */
  byForwarded(list: string | undefined, peer: string | undefined): string | undefined {
    const sender = this.byAddress(peer);
    if (list === undefined || !isAddressList(list)) {
      this.counts.missing += 1;
      return sender;
    }
    const entries = entriesOf(list);
    this.counts.lists += 1;
    if (sender === undefined || !isAddress(sender)) return this.#select(entries);
    const client = this.#select([...entries, sender], true);
    if (client === sender && client !== this.#select(entries)) this.counts.ignored += 1;
    return client;
  }

  #select(chain: readonly string[], hasPeer = false): string {
    const trusted = this.#trusted;
    if (typeof trusted === 'number') return chain[Math.max(0, chain.length - (hasPeer ? 1 : 0) - trusted)]!;
    return chain.findLast((entry) => !trusted.contains(entry)) ?? chain[0]!;
  }
}
