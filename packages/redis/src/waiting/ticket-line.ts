import { notePlace, readTurn, rejectionOf } from './apply-item.js';
import { AskSchedule, MAX_ASKED } from './ask-schedule.js';
import { LineTimer } from './line-timer.js';
import { OrderedTickets } from './ordered-tickets.js';
import type { Room } from './room.js';
import type { Ticket } from './ticket.js';
import type { TicketGroup } from './ticket-group.js';
import type { TicketItem } from './ticket-items.js';

/** The tickets of this process in one group, in the order of their numbers, and the one timer that all of them share. */
export class TicketLine {
  readonly group: TicketGroup;
  readonly #tickets = new OrderedTickets();
  readonly #asks: AskSchedule;
  readonly #timer: LineTimer;

  constructor(
    group: TicketGroup,
    private readonly room: Room,
  ) {
    this.group = group;
    this.#asks = new AskSchedule(room);
    this.#timer = new LineTimer(room, () => this.#onTimer());
  }

  get isEmpty(): boolean {
    return this.#tickets.size === 0;
  }

  /** Adds a new ticket, or one that has lost its place, with its old number. */
  enter(ticket: Ticket): void {
    const { costs, id, number } = ticket;
    const most = ticket.call.maxWaiting === Infinity ? -1 : ticket.call.maxWaiting;
    this.#arrive(ticket, 'enter', [id, number, most, this.group.costsText(costs)]);
  }

  /** Adds a ticket that was too late for its turn, with its old number. The refund of that turn must follow. */
  restore(ticket: Ticket): void {
    const { costs, id, number } = ticket;
    this.#arrive(ticket, 'restore', [id, number, this.group.costsText(costs)]);
  }

  #arrive(ticket: Ticket, kind: string, rest: readonly unknown[]): void {
    this.#tickets.add(ticket);
    this.#send(kind, rest, () => this.#onArrivalFailed(ticket));
    this.#asks.noteArrival();
    this.#schedule();
  }

  /** Arrives once more, because a broken connection fails only what is on its way. The operation takes one place if both have run. */
  #onArrivalFailed(ticket: Ticket): void {
    if (ticket.state !== 'waits') {
      this.room.noteUnconfirmed(ticket, this);
    } else if (ticket.hasFailed) {
      // The operation may have run, so its turn may come.
      this.leave(ticket);
      ticket.giveUp();
    } else {
      ticket.hasFailed = true;
      this.enter(ticket);
    }
  }

  /** Frees the place of a ticket. A turn that is on its way is refunded when it comes. */
  leave(ticket: Ticket): void {
    ticket.state = 'left';
    this.#tickets.delete(ticket);
    this.sendLeave(ticket);
    this.#schedule();
  }

  /** Takes a ticket out of the queues. If that fails, the room calls it again when Redis replies. */
  sendLeave(ticket: Ticket): void {
    const rest = [ticket.id, this.group.costsText(ticket.costs)];
    this.#send('leave', rest, () => this.room.noteUnconfirmed(ticket, this));
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

  #notePlace(ticket: Ticket, item: Exclude<TicketItem, { kind: 'granted' }>, receivedMs: number): void {
    if (ticket.state !== 'waits') {
      // Its `leave` was lost, or its `enter` has run a second time. It would hold up all others.
      if ('wait' in item) this.sendLeave(ticket);
      return;
    }
    if (item.kind === 'full' || item.kind === 'neverAllowed') {
      ticket.fail(rejectionOf(ticket, item.kind));
      this.remove(ticket);
      return;
    }
    const waitMicros = notePlace(ticket, item, this.group, this.room.lead, receivedMs);
    if ('wait' in item) this.#rejectIfTooLong(ticket, waitMicros, receivedMs);
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
  #sync(): void {
    this.#timer.expire();
    this.#asks.start(this.#timer.dueMs);
    const asked: (string | number)[] = [];
    for (const ticket of this.#tickets) {
      if (asked.length >= 3 * MAX_ASKED) break;
      ticket.askMs = Infinity;
      if (ticket.number === 0) continue; // Its `enter` is on the way.
      asked.push(ticket.id, ticket.number, this.group.costsText(ticket.costs));
      ticket.dueMs = Infinity;
    }
    this.#send('sync', asked, () => {
      this.#asks.fail();
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
        if (kind === 'sync') this.#asks.end();
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
    for (const ticket of this.#tickets) {
      if (nowMs < this.#asks.isLostMs(ticket)) continue;
      ticket.missingSinceMs = undefined;
      this.enter(ticket);
    }
  }

  /** No reply has come for a whole lease. */
  #giveUpIfFailed(): void {
    this.#timer.expire();
    for (const ticket of this.#asks.hasFailed() ? [...this.#tickets] : []) {
      this.leave(ticket);
      ticket.giveUp();
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.isEmpty) this.room.drop(this, this.group.id);
    this.#timer.set(this.isEmpty ? Infinity : this.#asks.nextMs(this.#tickets));
  }

  #onTimer(): void {
    this.#reenterMissing();
    if (this.isEmpty) return;
    if (!this.#asks.hasFailed()) this.#sync();
    // The process may have been stopped. Then the reply is read before this.
    else setImmediate(() => this.#giveUpIfFailed());
  }
}
