import type { StoreWait } from '@rollgate/core/store';
import type { Room } from './room.js';
import type { Ticket, Turn } from './ticket.js';

/** How fast the clocks of two machines drift apart at most: 100 millionths. */
const DRIFT = 1e-4;
/** The least time by which an action may start late. */
const SLACK_MS = 25;

/**
 * Relates the time of the Redis server to that of this process. Both are milliseconds.
 *
 * A reply contains the time of the server. The difference of the clocks is at least the time of sending less that time, and at most
 * the time of the reply less it. So an action never starts early. A process that was stopped detects that it is late, even if it
 * reads an old message only now.
 */
export class ServerClock {
  /** The least and the greatest possible difference. */
  #low = -Infinity;
  #high = Infinity;
  #updatedMs = 0;
  /** One reply alone may have come late itself. So may all that were on their way together, which count as one. */
  #replyCount = 0;
  /** When the last reply that counts was read. */
  #countedMs = -Infinity;

  /** Call it for a reply with the time of the server. */
  noteReply(serverMs: number, sentMs: number, receivedMs: number): void {
    this.#update(sentMs - serverMs, receivedMs - serverMs, receivedMs);
    if (sentMs < this.#countedMs) return;
    this.#countedMs = receivedMs;
    this.#replyCount += 1;
  }

  /** Call it for a message, which has been on its way for an unknown time. */
  noteMessage(serverMs: number, receivedMs: number): void {
    this.#update(-Infinity, receivedMs - serverMs, receivedMs);
  }

  #update(low: number, high: number, nowMs: number): void {
    const drift = (nowMs - this.#updatedMs) * DRIFT;
    this.#updatedMs = nowMs;
    this.#low = Math.max(this.#low - drift, low);
    this.#high = Math.min(this.#high + drift, high);
    if (this.#low <= this.#high) return;
    // The clock of the server has been set, so what was known before is wrong. After a message, each start is late until a reply.
    [this.#low, this.#high] = [low, high];
    this.#replyCount = 0;
  }

  /** Whether an action that starts on time seems late, because only one reply has come. */
  get needsReply(): boolean {
    return this.#replyCount < 2 && this.#high - this.#low > SLACK_MS;
  }

  /** When the time of the server has certainly come. */
  toLocalMs(serverMs: number): number {
    return serverMs + this.#high;
  }

  /** A time that is not after that of the server. */
  toEarliestLocalMs(serverMs: number): number {
    return serverMs + this.#low;
  }

  /** The latest time that the server can have. `Infinity` if it is unknown. */
  toLatestServerMs(localMs: number): number {
    return localMs - this.#low;
  }

  /**
   * Whether it is too late for a start at this time of the server. What is unknown about the clocks is how long the network takes
   * at least.
   *
   * @param lateCount How often the same caller was too late before. It may be twice as late each time, so that it starts at last
   * on a machine or a network that is always late.
   */
  isLate(serverMs: number, nowMs: number, lateCount: number): boolean {
    const unknownMs = this.#replyCount < 2 ? 0 : this.#high - this.#low;
    return nowMs > serverMs + this.#low + SLACK_MS * 2 ** lateCount + 2 * unknownMs;
  }
}

/**
 * A reply that came late leaves the time of the server uncertain until other replies come. So a caller looks again this often while its
 * start may have come.
 */
const RECHECK_MS = 10;

/** When the actions of turns start, by the clock of this process. */
export class StartTimes {
  readonly #room: Pick<Room, 'nowMs' | 'hasClock'>;
  readonly #serverClock: ServerClock;

  constructor(room: Pick<Room, 'nowMs' | 'hasClock'>, serverClock: ServerClock) {
    this.#room = room;
    this.#serverClock = serverClock;
  }

  /** Whether another reply must come before the start of a turn, so that the action is not too late for it. */
  needsReply({ decision }: Turn): boolean {
    return !this.#room.hasClock && decision.delayMs > 0 && this.#serverClock.needsReply;
  }

  /** Sleeps until the action of a turn may start. */
  async sleepUntil(turn: Turn, call: StoreWait): Promise<void> {
    while (await this.#sleepOnce(turn, call));
  }

  /** Returns whether the start may still be ahead. */
  async #sleepOnce({ startMs }: Turn, { cancellation }: StoreWait): Promise<boolean> {
    const nowMs = this.#room.nowMs();
    const [leastMs, mostMs] = this.#timesOf(startMs).map((timeMs) => timeMs - nowMs) as [number, number];
    if (mostMs <= 0) return false;
    cancellation.throwIfTooLong(leastMs, nowMs);
    const waitMs = Math.min(mostMs, Math.max(leastMs, RECHECK_MS));
    await cancellation.sleep(waitMs, nowMs);
    return waitMs < mostMs;
  }

  /** When a start comes at the earliest and at the latest, by the clock of this process. */
  #timesOf(startMs: number): readonly [earliestMs: number, latestMs: number] {
    if (this.#room.hasClock) return [startMs, startMs];
    return [this.#serverClock.toEarliestLocalMs(startMs), this.#serverClock.toLocalMs(startMs)];
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

/** The numbers of callers that wait in their process, because the queues have failed. They return when Redis replies. */
export class LostPlaces {
  readonly #numbers = new WeakMap<StoreWait, number>();
  readonly #serverClock: ServerClock;

  constructor(serverClock: ServerClock) {
    this.#serverClock = serverClock;
  }

  /** Returns the number of a caller that returns, or 0 for a new one. */
  numberOf(call: StoreWait): number {
    return this.#numbers.get(call) ?? 0;
  }

  /**
   * Keeps the place of a caller. One that has not arrived gets the number that it would have had.
   *
   * @param number 0 if it is unknown.
   */
  keep(call: StoreWait, number: number, arrivedMs: number): void {
    // Rounds up, so that no earlier caller is behind it.
    const arrival = Math.ceil(1000 * this.#serverClock.toLatestServerMs(arrivedMs));
    this.#numbers.set(call, number || (arrival < Infinity ? arrival : 0));
  }
}
