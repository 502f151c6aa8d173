import type { Room } from './room.js';
import type { Ticket } from './ticket.js';

/** How long after the time of its turn a ticket asks for it. Usually the first ticket of all has asked before. */
const BACKUP_MS = 15;
/** How much longer the message with a turn may take than a reply. */
const MESSAGE_MS = 25;
/** The most tickets of which one operation asks. Those behind them wait longer. */
export const MAX_ASKED = 100;

type ScheduleRoom = Pick<Room, 'nowMs' | 'after' | 'leaseMs' | 'hasClock' | 'getsMessages' | 'lead' | 'askAll'>;

/**
 * When a line sends a `sync`, and the one timer that all of its tickets share:
 *
 * - before the turn of the first ticket of all processes, if that is here, so that this process asks for all of them
 * - after the time at which the turn of the first ticket here should have come, whatever has become of other processes
 * - twice per lease
 */
export class AskSchedule {
  #beatMs = Infinity;
  #isHurried = false;
  /** Grows while an early `sync` finds nothing, so that a process does not poll in vain. */
  #backupMs = BACKUP_MS;
  /** Whether a `sync` is on its way. */
  #isAsking = false;
  /** When the last `sync` was to be sent. */
  #dueMs = Infinity;
  /** When it was sent. */
  #askedMs = -Infinity;
  #lastReplyMs = -Infinity;
  #timerMs = Infinity;
  #stopTimer: (() => void) | undefined;

  /** @param onTime Called when it is time for a `sync`, or to find that the last one has failed. Busy processes get there later. */
  constructor(
    private readonly room: ScheduleRoom,
    private readonly onTime: (dueMs: number) => void,
  ) {}

  /** Sets the timer for the tickets from the first one on, and for no earlier or later time. Without any, stops it. */
  update(first: Ticket | undefined): void {
    const timerMs = first === undefined ? Infinity : this.#nextMs(first);
    if (timerMs === this.#timerMs) return;
    this.#timerMs = timerMs;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (timerMs === Infinity) return;
    const nowMs = this.room.nowMs();
    const dueMs = Math.max(timerMs, nowMs);
    this.#stopTimer = this.room.after(dueMs - nowMs, () => {
      this.#timerMs = Infinity; // So that the same time can be set again.
      this.onTime(dueMs);
    });
  }

  noteArrival(): void {
    this.#beatMs = Math.min(this.#beatMs, this.room.nowMs() + this.room.leaseMs / 2);
  }

  noteTurn(): void {
    this.#backupMs = BACKUP_MS;
  }

  noteReply(): void {
    this.#lastReplyMs = this.room.nowMs();
  }

  /** Asks as soon as possible, if the lease must be extended until this time. */
  hurry(untilMs: number): void {
    this.#isHurried ||= this.#beatMs <= untilMs;
  }

  /** A `sync` is sent, which was to be sent at `dueMs`. */
  start(dueMs: number): void {
    const nowMs = this.room.nowMs();
    const isBeat = nowMs >= this.#beatMs;
    this.#isAsking = true;
    this.#dueMs = dueMs;
    this.#askedMs = nowMs;
    this.#isHurried = false;
    this.#beatMs = nowMs + this.room.leaseMs / 2;
    this.#backupMs = Math.min(2 * this.#backupMs, this.room.leaseMs / 4);
    if (isBeat) this.room.askAll(nowMs + this.room.leaseMs / 4); // One call extends the leases of all lines.
  }

  /** The reply to a `sync` has come, or it has failed. */
  end(hasReplied: boolean): void {
    this.#isAsking = false;
    if (hasReplied) this.room.lead.note(this.room.nowMs() - this.#dueMs);
  }

  /** Whether no reply to a `sync` has come for a whole lease. */
  hasFailed(): boolean {
    return this.room.nowMs() > this.#failedMs;
  }

  /** An injected clock may pass any time before a reply comes. A process that was stopped may not have asked. */
  get #failedMs(): number {
    if (this.room.hasClock || !this.#isAsking) return Infinity;
    return Math.max(this.#askedMs, this.#lastReplyMs) + this.room.leaseMs;
  }

  /** When a ticket that is in no queue has not got its turn either. Without messages, there is nothing to wait for. */
  isLostMs({ missingSinceMs }: Ticket): number {
    return missingSinceMs === undefined ? Infinity : missingSinceMs + (this.room.getsMessages ? MESSAGE_MS : 0);
  }

  #nextMs(first: Ticket): number {
    // While an operation is on its way, only its failure matters.
    if (this.#isAsking) return this.#failedMs + 1;
    if (this.#isHurried) return -Infinity;
    let nextMs = this.#beatMs;
    let dueMs = -Infinity;
    let ticket: Ticket | undefined = first;
    for (let count = 0; ticket !== undefined && count < MAX_ASKED; count++) {
      // A ticket does not start before those ahead of it, whatever was known when it arrived.
      dueMs = Math.max(dueMs, ticket.dueMs);
      nextMs = Math.min(nextMs, ticket.askMs, dueMs + this.#backupMs, this.isLostMs(ticket));
      ticket = ticket.next;
    }
    return nextMs;
  }
}
