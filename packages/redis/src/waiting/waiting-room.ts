import {
  type Costs,
  readMicros,
  type StoreGrant,
  type StoreWait,
  type StoreWaiting,
  scheduleAfter,
} from '@rollgate/core/store';
import type { TicketOperation } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';
import { performance, randomId } from '../util/platform.js';
import { AskLead } from './ask-lead.js';
import { KnownTickets } from './known-tickets.js';
import { LostPlaces } from './lost-places.js';
import type { Leavable, QueueingStore, Room, RoomSettings } from './room.js';
import { ServerClock } from './server-clock.js';
import { StartTimes } from './start-times.js';
import { Ticket, type Turn } from './ticket.js';
import { type Caller, TicketGroup } from './ticket-group.js';
import { parseTicketItems } from './ticket-items.js';
import { TicketLine } from './ticket-line.js';

/** The callers of one store that wait, in queues that all processes share. See `lua/queues/tickets.lua`. */
export class WaitingRoom implements StoreWaiting, Room {
  readonly leaseMs: number;
  readonly lead = new AskLead();
  readonly #owner = randomId();
  readonly #lines = new Map<string, TicketLine>();
  readonly #tickets: KnownTickets;
  /** The lines of tickets whose `leave` has failed, so they may still hold up others. */
  readonly #unconfirmed = new Map<Ticket, Leavable>();
  readonly #serverClock = new ServerClock();
  readonly #startTimes = new StartTimes(this, this.#serverClock);
  readonly #lostPlaces = new LostPlaces(this.#serverClock);
  #nextId = 1;

  constructor(
    private readonly store: QueueingStore,
    private readonly settings: RoomSettings,
  ) {
    this.leaseMs = settings.leaseMs;
    this.#tickets = new KnownTickets(settings.leaseMs);
  }

  /** Implements {@link StoreWaiting.wait}. */
  async wait(call: StoreWait): Promise<StoreGrant | undefined> {
    this.settings.subscriber?.listen(this.#owner, (text) => this.receive(text, undefined), this.askAll);
    const { encodedPlan, keys } = this.store.encode(call);
    const group = this.groupOf(encodedPlan, keys, call.costs);
    if (!group.hasQueues) return undefined;
    const ticket = new Ticket(this.#nextId++, call, call.costs);
    ticket.number = this.#lostPlaces.numberOf(call);
    const arrivedMs = this.nowMs();
    this.#join(ticket, group).enter(ticket);
    let turn: Turn | undefined;
    try {
      for (;;) {
        turn = await call.cancellation.unlessCanceled(ticket.turn);
        if (turn === undefined) {
          this.#lostPlaces.keep(call, ticket.number, arrivedMs);
          return undefined;
        }
        if (this.#startTimes.needsReply(turn)) this.wake(encodedPlan, keys, call.costs);
        await this.#startTimes.sleepUntil(turn, call);
        if (!this.#startTimes.isLate(turn, ticket)) {
          return { decision: turn.decision, madeMs: this.#startTimes.earliestMs(turn) };
        }
        // What other processes know about this turn no longer holds, so the action must not start.
        const unused = turn;
        turn = undefined;
        ticket.lateCount += 1;
        ticket.waitAgain();
        this.#returnLate(ticket, group, unused);
      }
    } catch (error) {
      if (turn !== undefined) this.refund(turn);
      else if (ticket.state === 'waits') this.#tickets.lineOf(ticket)!.leave(ticket);
      else
        ticket.turn.then(
          (late) => late && this.refund(late),
          () => {},
        );
      throw error;
    } finally {
      ticket.state = 'left';
      this.#tickets.forget(ticket, this.nowMs());
    }
  }

  groupOf(encodedPlan: EncodedPlan, keys: readonly string[], costs: Costs): TicketGroup {
    return new TicketGroup(encodedPlan, keys, costs, this.settings);
  }

  /** Grants the turns of quota that an operation has freed, which was sent just before. */
  wake(encodedPlan: EncodedPlan, keys: readonly string[], costs: Costs): void {
    const group = this.groupOf(encodedPlan, keys, costs);
    if (group.hasQueues) this.#wakeGroup(group);
  }

  #wakeGroup(group: TicketGroup): void {
    this.send({
      kind: 'ticket',
      encodedPlan: group.encodedPlan,
      keys: group.keys,
      encoding: group.encode('wake', this.caller(), []),
      resolve: (text, sentMs) => this.receive(text, sentMs, group),
      reject() {}, // The first ticket finds it at the time of its turn.
    });
  }

  /** Reads the reply to an operation of a group, or a message if that and `sentMs` are missing. */
  receive(text: string, sentMs: number | undefined, group?: TicketGroup): void {
    const { now, items, hasMore } = parseTicketItems(text);
    if (hasMore && group !== undefined) this.#wakeGroup(group);
    // An injected clock may have advanced since then, and the waits count from the time of the script.
    const receivedMs = this.hasClock ? now / 1000 : this.nowMs();
    if (!this.hasClock) {
      if (sentMs === undefined) this.#serverClock.noteMessage(now / 1000, receivedMs);
      else this.#serverClock.noteReply(now / 1000, sentMs, receivedMs);
    }
    for (const item of items) {
      const entry = this.#tickets.find(item.id);
      entry?.line.accept(entry.ticket, item, now, receivedMs);
    }
    if (sentMs !== undefined) this.#leaveAgain();
  }

  noteUnconfirmed(ticket: Ticket, line: Leavable): void {
    if (ticket.state !== 'waits') this.#unconfirmed.set(ticket, line);
  }

  /** Call it when Redis replies. As long as it does not, nothing extends the lease of the tickets. */
  #leaveAgain(): void {
    const unconfirmed = [...this.#unconfirmed];
    this.#unconfirmed.clear();
    for (const [ticket, line] of unconfirmed) line.sendLeave(ticket);
  }

  /** Refunds a turn that no action uses. */
  refund({ receipt }: Turn): Promise<void> {
    return this.store.refund(receipt).catch(() => {}); // If the refund fails, the hits of the check stay recorded.
  }

  send(operation: TicketOperation): void {
    this.store.send(operation);
  }

  drop(line: object, groupId: string): void {
    if (this.#lines.get(groupId) === line) this.#lines.delete(groupId);
  }

  get hasClock(): boolean {
    return this.store.clock !== undefined;
  }

  get getsMessages(): boolean {
    return this.settings.subscriber?.isReady(this.#owner) === true;
  }

  caller(): Caller {
    const { clock } = this.store;
    const { subscriber } = this.settings;
    return {
      nowMicros: clock === undefined ? undefined : readMicros(clock),
      owner: this.#owner,
      contact: subscriber?.isReady(this.#owner) ? subscriber.contact : 0,
      leaseMs: this.leaseMs,
    };
  }

  nowMs(): number {
    return (this.store.clock ?? performance).now();
  }

  after(delayMs: number, callback: () => void): () => void {
    if (delayMs <= 0) {
      // An injected clock may stand still.
      const timer = setTimeout(callback, 0);
      return () => clearTimeout(timer);
    }
    return scheduleAfter(delayMs, callback, this.store.clock);
  }

  /** Returns the line for a ticket that arrives. */
  #join(ticket: Ticket, group: TicketGroup): TicketLine {
    const line = this.#lines.get(group.id) ?? new TicketLine(group, this);
    this.#lines.set(group.id, line);
    this.#tickets.add(ticket, line);
    this.#unconfirmed.delete(ticket);
    return line;
  }

  /**
   * Gives a ticket its old place back and frees its units, in one script. The place comes first, so that no later caller takes the units
   * if the rest of a long batch runs later.
   */
  #returnLate(ticket: Ticket, group: TicketGroup, { receipt }: Turn): void {
    ticket.isRefunding = true;
    this.#join(ticket, group).restore(ticket);
    const refunded = this.store.refund(receipt).catch(() => {}); // If the refund fails, the hits of the check stay recorded.
    void refunded.then(() => {
      ticket.isRefunding = false;
    });
  }

  readonly askAll = (untilMs = Infinity): void => {
    for (const line of this.#lines.values()) line.ask(untilMs);
  };
}
