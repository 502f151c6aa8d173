import type { StoreWait } from '@rollgate/core/store';
import type { Room } from './room.js';
import type { ServerClock } from './server-clock.js';
import type { Ticket, Turn } from './ticket.js';

/**
 * A reply that came late leaves the time of the server uncertain until other replies come. So a caller looks again this often while its
 * start may have come.
 */
const RECHECK_MS = 10;

/** When the actions of turns start, by the clock of this process. */
export class StartTimes {
  constructor(
    private readonly room: Pick<Room, 'nowMs' | 'hasClock'>,
    private readonly serverClock: ServerClock,
  ) {}

  /** Whether another reply must come before the start of a turn, so that the action is not too late for it. */
  needsReply({ decision }: Turn): boolean {
    return !this.room.hasClock && decision.delayMs > 0 && this.serverClock.needsReply;
  }

  /** Sleeps until the action of a turn may start. */
  async sleepUntil(turn: Turn, call: StoreWait): Promise<void> {
    while (await this.#sleepOnce(turn, call));
  }

  /** Returns whether the start may still be ahead. */
  async #sleepOnce({ startMs }: Turn, { cancellation }: StoreWait): Promise<boolean> {
    const nowMs = this.room.nowMs();
    const [leastMs, mostMs] = this.#timesOf(startMs).map((timeMs) => timeMs - nowMs) as [number, number];
    if (mostMs <= 0) return false;
    cancellation.throwIfTooLong(leastMs, nowMs);
    const waitMs = Math.min(mostMs, Math.max(leastMs, RECHECK_MS));
    await cancellation.sleep(waitMs, nowMs);
    return waitMs < mostMs;
  }

  /** When a start comes at the earliest and at the latest, by the clock of this process. */
  #timesOf(startMs: number): readonly [earliestMs: number, latestMs: number] {
    if (this.room.hasClock) return [startMs, startMs];
    return [this.serverClock.toEarliestLocalMs(startMs), this.serverClock.toLocalMs(startMs)];
  }

  /** Whether it is too late for the action of a turn. */
  isLate({ startMs }: Turn, { lateCount }: Ticket): boolean {
    return !this.room.hasClock && this.serverClock.isLate(startMs, this.room.nowMs(), lateCount);
  }

  /** A time that is not after that of the decision. */
  earliestMs({ madeMs }: Turn): number {
    if (this.room.hasClock) return madeMs;
    return Math.min(this.room.nowMs(), this.serverClock.toEarliestLocalMs(madeMs));
  }
}
