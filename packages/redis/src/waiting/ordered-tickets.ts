import type { Ticket } from './ticket.js';

/**
 * The tickets of a line in the order of their numbers. New tickets come in that order. Tickets that return with their old numbers do
 * not, for example after an outage.
 */
export class OrderedTickets implements Iterable<Ticket> {
  readonly #arrived = new Set<Ticket>();
  /** Sorted. Their numbers are usually less than those of the others. */
  readonly #returned: Ticket[] = [];

  get size(): number {
    return this.#arrived.size + this.#returned.length;
  }

  /** Adds a ticket, unless it is here already. */
  add(ticket: Ticket): void {
    if (ticket.number === 0) this.#arrived.add(ticket);
    else if (!this.#arrived.has(ticket) && !this.#returned.includes(ticket)) this.#insert(ticket);
  }

  delete(ticket: Ticket): void {
    if (this.#arrived.delete(ticket)) return;
    const index = this.#returned.indexOf(ticket);
    if (index >= 0) this.#returned.splice(index, 1);
  }

  [Symbol.iterator](): Iterator<Ticket> {
    if (this.#returned.length === 0) return this.#arrived.values();
    return this.#arrived.size === 0 ? this.#returned.values() : this.#merge();
  }

  #insert(ticket: Ticket): void {
    let [low, high] = [0, this.#returned.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#returned[middle]!.number <= ticket.number) low = middle + 1;
      else high = middle;
    }
    this.#returned.splice(low, 0, ticket);
  }

  *#merge(): Generator<Ticket> {
    let index = 0;
    for (const ticket of this.#arrived) {
      const end = ticket.number || Infinity; // Its `enter` is on the way, so it is behind all that have returned.
      while (index < this.#returned.length && this.#returned[index]!.number < end) yield this.#returned[index++]!;
      yield ticket;
    }
    yield* this.#returned.slice(index);
  }
}
