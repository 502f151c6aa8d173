import type { StoreWait } from '@rollgate/core/store';
import type { Room } from './room.js';
import type { ServerClock } from './server-clock.js';
import type { Ticket, Turn } from './ticket.js';

/** When the actions of turns start, by the clock of this process. */
export class StartTimes {
  readonly #room: Pick<Room, 'nowMs' | 'hasClock'>;
  readonly #serverClock: ServerClock;

  constructor(room: Pick<Room, 'nowMs' | 'hasClock'>, serverClock: ServerClock) {
    this.#room = room;
    this.#serverClock = serverClock;
  }

  async sleepUntil({ startMs }: Turn, { cancellation }: StoreWait): Promise<void> {
    const nowMs = this.#room.nowMs();
    const waitMs = (this.#room.hasClock ? startMs : this.#serverClock.toLocalMs(startMs)) - nowMs;
    if (waitMs <= 0) return;
    cancellation.throwIfTooLong(waitMs, nowMs);
    await cancellation.sleep(waitMs, nowMs);
  }

  /** Whether it is too late for the action of a turn. */
  isLate({ startMs }: Turn, { lateCount }: Ticket): boolean {
    return !this.#room.hasClock && this.#serverClock.isLate(startMs, this.#room.nowMs(), lateCount);
  }

  /** A time that is not after that of the decision. */
  earliestMs({ madeMs }: Turn): number {
    if (this.#room.hasClock) return madeMs;
    return Math.min(this.#room.nowMs(), this.#serverClock.toEarliestLocalMs(madeMs));
  }
}
