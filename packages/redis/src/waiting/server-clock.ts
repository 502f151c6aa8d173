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

/** In place of a {@link ServerClock} if a clock was injected, which both sides use. The numbers of tickets are times of the server. */
export const INJECTED_CLOCK: Pick<ServerClock, keyof ServerClock> = {
  needsReply: false,
  noteReply() {},
  noteMessage() {},
  toLocalMs: (serverMs) => serverMs,
  toEarliestLocalMs: (serverMs) => serverMs,
  toLatestServerMs: () => Infinity,
  isLate: () => false,
};
