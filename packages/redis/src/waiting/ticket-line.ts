import { neverAllowed, tooManyWaiting } from '@rollgate/core/store';
import { AskSchedule, MAX_ASKED } from './ask-schedule.js';
import type { Room } from './room.js';
import type { Ticket } from './ticket.js';
import type { TicketGroup } from './ticket-group.js';
import { readTurn, type TicketItem } from './ticket-items.js';
import { TicketList } from './ticket-list.js';

/** The tickets of this process in one group. */
export class TicketLine {
  readonly #tickets = new TicketList();
  readonly #asks: AskSchedule;

  constructor(
    readonly group: TicketGroup,
    private readonly room: Room,
  ) {
    this.#asks = new AskSchedule(room, (dueMs) => this.#onTime(dueMs));
  }

  /** Adds a new ticket, or one that returns with its old number, for example after an outage. */
  enter(ticket: Ticket): void {
    this.#tickets.add(ticket);
    this.#sendEnter(ticket);
  }

  /** Adds a ticket that was too late for its turn, with its old number. The refund of that turn must follow. */
  restore(ticket: Ticket): void {
    const { costs, id, number } = ticket;
    this.#tickets.add(ticket);
    this.#sendArrival(ticket, 'restore', [id, number, this.group.costsText(costs)]);
  }

  #sendEnter(ticket: Ticket): void {
    const { costs, id, number } = ticket;
    const most = ticket.call.maxWaiting === Infinity ? -1 : ticket.call.maxWaiting;
    this.#sendArrival(ticket, 'enter', [id, number, most, this.group.costsText(costs)]);
  }

  #sendArrival(ticket: Ticket, kind: string, rest: readonly unknown[]): void {
    this.#send(kind, rest, () => this.#onArrivalFailed(ticket));
    this.#asks.noteArrival();
    this.#schedule();
  }

  /** Arrives once more, because a broken connection fails only what is on its way. The operation takes one place if both have run. */
  #onArrivalFailed(ticket: Ticket): void {
    if (ticket.state !== 'waits') {
      this.#onLeaveFailed(ticket);
    } else if (ticket.hasFailed) {
      // The operation may have run, so its turn may come.
      this.leave(ticket);
      ticket.giveUp();
    } else {
      ticket.hasFailed = true;
      this.#sendEnter(ticket);
    }
  }

  /** Frees the place of a ticket. A turn that is on its way is refunded when it comes. */
  leave(ticket: Ticket): void {
    ticket.state = 'left';
    this.#tickets.delete(ticket);
    this.#sendLeave(ticket);
    this.#schedule();
  }

  /** Takes a ticket out of the queues. If that fails, the room calls it again when Redis replies. */
  #sendLeave(ticket: Ticket): void {
    const rest = [ticket.id, this.group.costsText(ticket.costs)];
    this.#send('leave', rest, () => this.#onLeaveFailed(ticket));
  }

  #onLeaveFailed(ticket: Ticket): void {
    this.room.noteUnconfirmed(ticket, () => this.#sendLeave(ticket));
  }

  /** The ticket has its turn. */
  remove(ticket: Ticket): void {
    this.#tickets.delete(ticket);
    this.#schedule();
  }

  /** Applies what a script has reported at `nowMicros` of the clock that decides. It has arrived at `receivedMs`. */
  accept(ticket: Ticket, item: TicketItem, nowMicros: number, receivedMs: number): void {
    if (item.kind === 'granted') this.#grant(ticket, item, nowMicros);
    // A message with its place may come after the reply with its turn.
    else if (nowMicros >= ticket.grantedMicros) this.#notePlace(ticket, item, receivedMs);
    this.#schedule();
  }

  /** Notes the place of a ticket that waits, and when to ask for its turn. */
  #notePlace(ticket: Ticket, item: Exclude<TicketItem, { kind: 'granted' }>, receivedMs: number): void {
    if (ticket.state !== 'waits') {
      // Its `leave` was lost, or its `enter` has run a second time. It would hold up all others.
      if ('wait' in item) this.#sendLeave(ticket);
    } else if (item.kind === 'missing') {
      ticket.missingSinceMs ??= receivedMs;
    } else if (item.kind === 'first') {
      const wait = this.group.waitOf(item);
      ticket.dueMs = receivedMs + wait / 1000;
      ticket.askMs = ticket.dueMs - this.room.lead.leadMs(this.group.horizonMicros);
      this.#rejectIfTooLong(ticket, wait, receivedMs);
    } else if (item.kind === 'queued') {
      ticket.number = item.number;
      ticket.hasFailed = false;
      ticket.dueMs = receivedMs + item.wait / 1000;
      this.#rejectIfTooLong(ticket, item.least, receivedMs);
    } else {
      ticket.fail(item.kind === 'full' ? tooManyWaiting(ticket.call.maxWaiting) : neverAllowed());
      this.remove(ticket);
    }
  }

  /** Asks for turns now, if the lease must be extended until this time. */
  ask(untilMs: number): void {
    this.#asks.hurry(untilMs);
    this.#schedule();
  }

  #rejectIfTooLong(ticket: Ticket, waitMicros: number, receivedMs: number): void {
    if (this.group.isEstimate || ticket.isRefunding) return;
    try {
      ticket.call.cancellation.throwIfTooLong(waitMicros / 1000, receivedMs);
    } catch (error) {
      this.leave(ticket);
      ticket.fail(error);
    }
  }

  #grant(ticket: Ticket, item: TicketItem & { kind: 'granted' }, nowMicros: number): void {
    if (!ticket.isNewTurn(item)) return;
    const turn = readTurn(item, this.group, ticket.costs, nowMicros, this.room.hasClock);
    // A message that comes late may contain a second turn.
    if (ticket.state !== 'waits') {
      this.room.refund(turn);
      return;
    }
    if (ticket.number === 0) ticket.number = item.stamp;
    this.#asks.noteTurn();
    ticket.grantedMicros = nowMicros;
    ticket.grant(turn);
    this.remove(ticket);
  }

  /** Extends the lease, asks for the turns that are due, and finds lost messages. */
  #sync(dueMs: number): void {
    this.#asks.start(dueMs);
    const asked: (string | number)[] = [];
    for (let ticket = this.#tickets.first; ticket !== undefined; ticket = ticket.next) {
      if (asked.length >= 3 * MAX_ASKED) break;
      ticket.askMs = Infinity;
      if (ticket.number === 0) continue; // Its `enter` is on the way.
      asked.push(ticket.id, ticket.number, this.group.costsText(ticket.costs));
      ticket.dueMs = Infinity;
    }
    this.#send('sync', asked, () => {
      this.#asks.end(false);
      this.#schedule();
    });
    this.#schedule();
  }

  #send(kind: string, rest: readonly unknown[], onError: () => void): void {
    const { encodedPlan, keys } = this.group;
    const caller = this.room.caller();
    this.room.send({
      kind: 'ticket',
      encodedPlan,
      keys,
      encoding: this.group.encode(kind, caller, rest),
      resolve: (text, sentMs) => {
        this.#asks.noteReply();
        if (kind === 'sync') this.#asks.end(true);
        // Redis must know how this process gets messages now. It runs the rest of a long batch after later operations.
        if (caller.contact !== this.room.caller().contact) this.#asks.hurry(Infinity);
        this.room.receive(text, sentMs, this.group);
        this.#reenterMissing();
        this.#schedule();
      },
      reject: onError,
    });
  }

  /** Tickets that are in no queue and have got no message in time get their old place back. */
  #reenterMissing(): void {
    const nowMs = this.room.nowMs();
    for (let ticket = this.#tickets.first; ticket !== undefined; ticket = ticket.next) {
      if (nowMs < this.#asks.isLostMs(ticket)) continue;
      ticket.missingSinceMs = undefined;
      this.#sendEnter(ticket);
    }
  }

  /** No reply has come for a whole lease. */
  #giveUpIfFailed(): void {
    let ticket = this.#asks.hasFailed() ? this.#tickets.first : undefined;
    while (ticket !== undefined) {
      this.leave(ticket);
      ticket.giveUp();
      ticket = this.#tickets.first;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#tickets.first === undefined) this.room.drop(this, this.group.id);
    this.#asks.update(this.#tickets.first);
  }

  #onTime(dueMs: number): void {
    this.#reenterMissing();
    if (!this.#asks.hasFailed()) this.#sync(dueMs);
    // The process may have been stopped. Then the reply is read before this.
    else setImmediate(() => this.#giveUpIfFailed());
  }
}
