import type { Ticket } from './ticket.js';

/** Tickets in the order of their numbers. Each is linked to its neighbors, so that one of many leaves as fast as one of a few. */
export class TicketList {
  #first: Ticket | undefined;
  #last: Ticket | undefined;

  /** The ticket with the lowest number. The others follow by their `next`. */
  get first(): Ticket | undefined {
    return this.#first;
  }

  /** Adds a ticket. A new one has no number yet, and is behind all others. */
  add(ticket: Ticket): void {
    const number = ticket.number || Infinity;
    let before = this.#last;
    while (before !== undefined && (before.number || Infinity) > number) before = before.previous;
    const after = before === undefined ? this.#first : before.next;
    this.#link(before, ticket);
    this.#link(ticket, after);
  }

  /** Takes a ticket out, if it is here. */
  delete(ticket: Ticket): void {
    if (ticket !== this.#first && ticket.previous === undefined) return;
    this.#link(ticket.previous, ticket.next);
    ticket.previous = undefined;
    ticket.next = undefined; // Or a ticket that has left would keep all later ones in memory.
  }

  /** Makes two tickets neighbors. Without the other one, a ticket is the first or the last. */
  #link(before: Ticket | undefined, after: Ticket | undefined): void {
    if (before === undefined) this.#first = after;
    else before.next = after;
    if (after === undefined) this.#last = before;
    else after.previous = before;
  }
}
