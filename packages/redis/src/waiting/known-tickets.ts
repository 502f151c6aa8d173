import type { Ticket } from './ticket.js';
import type { TicketLine } from './ticket-line.js';

/** A ticket and its line. */
interface Entry {
  readonly ticket: Ticket;
  readonly line: TicketLine;
}

/** The tickets of a store by their ids: those that wait, and those whose turn may still come in a message. */
export class KnownTickets {
  readonly #waiting = new Map<number, Entry>();
  /** Those that have left during the last lease, in their order. */
  readonly #left = new Map<number, Entry & { readonly endMs: number }>();

  constructor(private readonly leaseMs: number) {}

  add(ticket: Ticket, line: TicketLine): void {
    this.#waiting.set(ticket.id, { ticket, line });
  }

  /** The line of a ticket that waits. */
  lineOf({ id }: Ticket): TicketLine | undefined {
    return this.#waiting.get(id)?.line;
  }

  find(id: number): Entry | undefined {
    return this.#waiting.get(id) ?? this.#left.get(id);
  }

  /** Forgets a ticket when no message with its turn can come any more. */
  forget({ id }: Ticket, nowMs: number): void {
    this.#left.set(id, { ...this.#waiting.get(id)!, endMs: nowMs + this.leaseMs });
    this.#waiting.delete(id);
    for (const [old, { endMs }] of this.#left) {
      if (endMs > nowMs) break;
      this.#left.delete(old);
    }
  }
}
