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
import type { QueueingStore, Room, RoomSettings } from './room.js';
import { INJECTED_CLOCK, ServerClock } from './server-clock.js';
import { Ticket, type Turn } from './ticket.js';
import { type Caller, TicketGroup } from './ticket-group.js';
import { parseTicketItems } from './ticket-items.js';
import { TicketLine } from './ticket-line.js';

/**
 * A reply that came late leaves the time of the server uncertain until other replies come. So a caller looks again this often while its
 * start may have come.
 */
const RECHECK_MS = 10;

/** The callers of one store that wait, in queues that all processes share. See `lua/queues/tickets.lua`. */
export class WaitingRoom implements StoreWaiting, Room {
  readonly leaseMs: number;
  readonly lead = new AskLead();
  readonly #owner = randomId();
  readonly #lines = new Map<string, TicketLine>();
  /** The tickets that wait, and those whose turn may still come in a message, by their ids. */
  readonly #tickets = new Map<number, { readonly ticket: Ticket; readonly line: TicketLine }>();
  /** When tickets have left during the last lease, by their ids, in this order. */
  readonly #leftMs = new Map<number, number>();
  /** How to repeat the `leave` of tickets for which it has failed, so they may still hold up others. */
  readonly #unconfirmed = new Map<Ticket, () => void>();
  /** The numbers of callers that wait in this process, because the queues have failed. They return when Redis replies. */
  readonly #lostNumbers = new WeakMap<StoreWait, number>();
  readonly #serverClock: typeof INJECTED_CLOCK;
  #nextId = 1;

  constructor(
    private readonly store: QueueingStore,
    private readonly settings: RoomSettings,
  ) {
    this.leaseMs = settings.leaseMs;
    this.#serverClock = this.hasClock ? INJECTED_CLOCK : new ServerClock();
  }

  /** Implements {@link StoreWaiting.wait}. */
  async wait(call: StoreWait): Promise<StoreGrant | undefined> {
    this.settings.subscriber?.listen(this.#owner, (text) => this.receive(text, undefined), this.askAll);
    const { encodedPlan, keys } = this.store.encode(call);
    const group = this.groupOf(encodedPlan, keys, call.costs);
    if (!group.hasQueues) return undefined;
    const ticket = new Ticket(this.#nextId++, call, call.costs);
    ticket.number = this.#lostNumbers.get(call) ?? 0;
    const arrivedMs = this.nowMs();
    this.#join(ticket, group).enter(ticket);
    let turn: Turn | undefined;
    try {
      for (;;) {
        turn = await call.cancellation.unlessCanceled(ticket.turn);
        if (turn === undefined) {
          this.#lostNumbers.set(call, ticket.number || this.#arrivalNumber(arrivedMs));
          return undefined;
        }
        if (turn.decision.delayMs > 0 && this.#serverClock.needsReply) this.wake(encodedPlan, keys, call.costs);
        await this.#sleepUntilStart(turn, call);
        if (!this.#serverClock.isLate(turn.startMs, this.nowMs(), ticket.lateCount)) {
          const madeMs = Math.min(this.nowMs(), this.#serverClock.toEarliestLocalMs(turn.madeMs));
          return { decision: turn.decision, madeMs };
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
      else if (ticket.state === 'waits') this.#tickets.get(ticket.id)!.line.leave(ticket);
      else
        ticket.turn.then(
          (late) => late && this.refund(late),
          () => {},
        );
      throw error;
    } finally {
      ticket.state = 'left';
      this.#noteLeft(ticket);
    }
  }

  /** Forgets the tickets that have left so long ago that no message with their turn can come any more. */
  #noteLeft(ticket: Ticket): void {
    const nowMs = this.nowMs();
    this.#leftMs.set(ticket.id, nowMs);
    for (const [id, leftMs] of this.#leftMs) {
      if (leftMs + this.leaseMs > nowMs) break;
      this.#leftMs.delete(id);
      this.#tickets.delete(id);
    }
  }

  /** The number that a caller would have got. Rounds up, so that no earlier caller is behind it. Returns 0 if it is unknown. */
  #arrivalNumber(arrivedMs: number): number {
    const arrival = Math.ceil(1000 * this.#serverClock.toLatestServerMs(arrivedMs));
    return arrival < Infinity ? arrival : 0;
  }

  /** Sleeps until the action of a turn may start. */
  async #sleepUntilStart({ startMs }: Turn, { cancellation }: StoreWait): Promise<void> {
    for (;;) {
      const nowMs = this.nowMs();
      const leastMs = this.#serverClock.toEarliestLocalMs(startMs) - nowMs;
      const mostMs = this.#serverClock.toLocalMs(startMs) - nowMs;
      if (mostMs <= 0) return;
      cancellation.throwIfTooLong(leastMs, nowMs);
      const waitMs = Math.min(mostMs, Math.max(leastMs, RECHECK_MS));
      await cancellation.sleep(waitMs, nowMs);
      if (waitMs === mostMs) return;
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
    if (sentMs === undefined) this.#serverClock.noteMessage(now / 1000, receivedMs);
    else this.#serverClock.noteReply(now / 1000, sentMs, receivedMs);
    for (const item of items) {
      const entry = this.#tickets.get(item.id);
      entry?.line.accept(entry.ticket, item, now, receivedMs);
    }
    if (sentMs !== undefined) this.#leaveAgain();
  }

  noteUnconfirmed(ticket: Ticket, leave: () => void): void {
    if (ticket.state !== 'waits') this.#unconfirmed.set(ticket, leave);
  }

  /** Call it when Redis replies. As long as it does not, nothing extends the lease of the tickets. */
  #leaveAgain(): void {
    const unconfirmed = [...this.#unconfirmed.values()];
    this.#unconfirmed.clear();
    for (const leave of unconfirmed) leave();
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
    this.#tickets.set(ticket.id, { ticket, line });
    this.#unconfirmed.delete(ticket);
    return line;
  }

  /**
   * Gives a ticket its old place back and frees its units, in one script. The place comes first, so that no later caller takes the units
   * if the rest of a long batch runs later.
   */
  #returnLate(ticket: Ticket, group: TicketGroup, turn: Turn): void {
    ticket.isRefunding = true;
    this.#join(ticket, group).restore(ticket);
    void this.refund(turn).then(() => {
      ticket.isRefunding = false;
    });
  }

  readonly askAll = (untilMs = Infinity): void => {
    for (const line of this.#lines.values()) line.ask(untilMs);
  };
}
