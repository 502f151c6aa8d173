import { neverAllowed, tooManyWaiting } from '@rollgate/core/store';
import type { AskLead } from './ask-lead.js';
import type { Ticket } from './ticket.js';
import type { TicketGroup } from './ticket-group.js';
import type { TicketItem } from './ticket-items.js';

/** What a script reports about the place of a ticket. */
export type PlaceItem = Exclude<TicketItem, { readonly kind: 'granted' | 'full' | 'neverAllowed' }>;

/**
 * Notes the place of a ticket that waits, and when to ask for its turn. The report has arrived at `receivedMs`. Returns how long the
 * ticket waits at least, in microseconds.
 */
export function notePlace(
  ticket: Ticket,
  item: PlaceItem,
  group: TicketGroup,
  lead: AskLead,
  receivedMs: number,
): number {
  if (item.kind === 'missing') {
    ticket.missingSinceMs ??= receivedMs;
    return 0;
  }
  if (item.kind === 'first') {
    const wait = group.waitOf(item);
    ticket.dueMs = receivedMs + wait / 1000;
    ticket.askMs = ticket.dueMs - lead.leadMs(group.horizonMicros);
    return wait;
  }
  ticket.number = item.number;
  ticket.hasFailed = false;
  ticket.dueMs = receivedMs + item.wait / 1000;
  return item.least;
}

/** The error of a ticket that a script has not let into its queues. */
export function rejectionOf({ call }: Ticket, kind: 'full' | 'neverAllowed'): Error {
  return kind === 'full' ? tooManyWaiting(call.maxWaiting) : neverAllowed();
}
