/** What a script reports to the owner of a ticket. `lua/queues/tickets.lua` describes the items. All times are microseconds. */
export type TicketItem =
  | {
      readonly kind: 'granted';
      readonly id: number;
      readonly at: number;
      readonly stamp: number;
      readonly result: string;
    }
  | {
      readonly kind: 'first';
      readonly id: number;
      readonly wait: number;
      /** The settings of the limit that lets it wait, if no others are known. */
      readonly settings: number;
    }
  | {
      readonly kind: 'queued';
      readonly id: number;
      readonly number: number;
      readonly wait: number;
      /** How long it waits at least, because callers ahead may let it pass. */
      readonly least: number;
    }
  | { readonly kind: 'missing'; readonly id: number }
  | { readonly kind: 'full'; readonly id: number }
  | { readonly kind: 'neverAllowed'; readonly id: number };

const KINDS = ['', 'granted', 'first', 'queued', 'missing', 'full', 'neverAllowed', 'more'] as const;

type NumbersOfItem = [code: number, id: number, first: number, second: number, third: number];

/** Reads a reply or a message: the time of the decisions, the items, and whether the script has left work that belongs to no ticket. */
export function parseTicketItems(text: string) {
  const [now, ...parts] = text.split(',');
  const items: TicketItem[] = [];
  let hasMore = false;
  for (let index = 0; index < parts.length; index++) {
    const [code, id, first, second, third] = parts[index]!.split(' ').map(Number) as NumbersOfItem;
    const kind = KINDS[code];
    if (kind === 'granted') {
      const result = parts.slice(index + 1, index + 1 + third).join(',');
      items.push({ kind, id, at: first, stamp: second, result });
      index += third;
    } else if (kind === 'first') items.push({ kind, id, wait: first, settings: second });
    else if (kind === 'queued') items.push({ kind, id, number: first, wait: second, least: third });
    else if (kind === 'more') hasMore = true;
    else if (kind) items.push({ kind, id });
  }
  return { now: Number(now), items, hasMore };
}
