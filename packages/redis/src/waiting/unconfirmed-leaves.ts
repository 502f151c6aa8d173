import type { Ticket } from './ticket.js';

/** A line that can take its tickets out of the queues. */
export interface Leavable {
  sendLeave(ticket: Ticket): void;
}

/** The tickets whose `leave` has failed, so they may still hold up others. */
export class UnconfirmedLeaves {
  readonly #lines = new Map<Ticket, Leavable>();

  add(ticket: Ticket, line: Leavable): void {
    if (ticket.state !== 'waits') this.#lines.set(ticket, line);
  }

  /** The ticket waits again. */
  delete(ticket: Ticket): void {
    this.#lines.delete(ticket);
  }

  /** Call it when Redis replies. As long as it does not, nothing extends the lease of the tickets. */
  sendAgain(): void {
    for (const [ticket, line] of [...this.#lines]) {
      this.#lines.delete(ticket);
      line.sendLeave(ticket);
    }
  }
}
