import { isAddress, type Networks, toBareAddress } from './address.js';

/** Which proxies wrote the end of the list: their number, or their networks. */
export type TrustedProxies = number | Networks;

/** Selects the client of a forwarded list. `peer` is the address that sent the request. */
export type SelectClient = (list: string, peer: string | undefined) => string | undefined;

/** How often a list was there, and how often not. */
export interface ForwardedCounts {
  lists: number;
  missing: number;
}

/**
 * Creates the function that finds the client in a list such as `client, proxy 1, proxy 2`. A client can forge the start of the
 * list, so it counts from the right. With networks, the client is the last address outside of them. With a number, as many
 * hops are skipped, the first of which is the peer.
 */
export function createSelectClient(trusted: TrustedProxies, counts: ForwardedCounts): SelectClient {
  return (list, peer) => {
    const entries = entriesOf(list);
    if (entries.length === 0) {
      counts.missing += 1;
      return peer;
    }
    counts.lists += 1;
    if (typeof trusted === 'number') {
      const chain = peer === undefined ? entries : [...entries, peer];
      return chain[Math.max(0, (peer === undefined ? entries.length : chain.length - 1) - trusted)];
    }
    return entries.findLast((entry) => !trusted.contains(entry)) ?? entries[0];
  };
}

/** Whether the text is a list of one or more addresses. */
export function isAddressList(text: string): boolean {
  const entries = entriesOf(text);
  return entries.length > 0 && entries.every(isAddress);
}

/** The entries of `X-Forwarded-For`, or of `Forwarded` (RFC 7239). */
function entriesOf(list: string): string[] {
  if (list.length <= 1) return [];
  return list
    .split(',')
    .map((entry) => toEntry(entry.trim()))
    .filter((entry) => entry !== '' && entry !== '-' && entry !== 'unknown');
}

const FORWARDED_FOR = /(?:^|;)\s*for="?([^";]*)"?/i;

function toEntry(text: string): string {
  const entry = text.includes('=') ? (FORWARDED_FOR.exec(text)?.[1] ?? '') : text;
  return toBareAddress(entry) ?? entry;
}
