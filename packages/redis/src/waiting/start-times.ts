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

  /** Sleeps until the action of a turn may start. */
  async sleepUntil({ startMs }: Turn, { cancellation }: StoreWait): Promise<void> {
    const sleep = async (untilMs: number) => {
      const nowMs = this.#room.nowMs();
      const waitMs = untilMs - nowMs;
      if (waitMs <= 0) return;
      cancellation.throwIfTooLong(waitMs, nowMs);
      await cancellation.sleep(waitMs, nowMs);
    };
    if (this.#room.hasClock) return sleep(startMs);
    // A reply that came late leaves the clock of the server uncertain. Later ones may make it certain before the start.
    await sleep(this.#serverClock.toEarliestLocalMs(startMs));
    await sleep(this.#serverClock.toLocalMs(startMs));
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
