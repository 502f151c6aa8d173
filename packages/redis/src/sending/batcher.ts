import { afterTurn, REQUESTS_SHARE_CONNECTIONS } from '../util/platform.js';

/** The most items of one batch. A script blocks the server, so a larger batch would delay other clients. */
const MAX_ITEMS = 100;
/** How long half of a batch waits at most. If replies take longer, the wait between them is not worth avoiding. */
const MAX_HOLD_MS = 5;

/** The smallest number of items that is worth sending in two halves. With 16, halves take 1.15 times as long as one batch. */
const MIN_HALVED = 48;
/** After so many batches that only waited for a reply, and none that came without one, a batch is halved. */
const MIN_LOCKSTEPS = 8;

/** Sends a batch. Calls `onReply` as soon as the reply has arrived, before it reads the reply. */
type Send<Item> = (items: Item[], onReply: () => void) => Promise<void>;

/**
 * Collects the items of one turn of the event loop. When the turn ends, it sends them in order, in batches of at most 100.
 *
 * If items only arrive after a reply, and all at once, Redis and this process wait for each other. Then half of a batch waits for
 * the reply to the other half, and is sent before this process reads that reply. From then on, Redis works on one half while this
 * process works on the other. The half waits for 5 ms at most. With 64 checks in flight over TCP, halves reach 1.2 to 1.3 times the
 * checks per second. They take 1.1 times as much CPU of this process. The next batch is whole if its items have waited for both halves.
 */
export class Batcher<Item> {
  #waiting: Item[] = [];
  /** Runs while half of a batch waits for the reply to the other. */
  #holdTimer: ReturnType<typeof setTimeout> | undefined;
  #isScheduled = false;
  #inFlightCount = 0;
  /** Whether the results of a batch have arrived since the last turn that sent items. */
  #hasReplied = false;
  /** How many turns in a row sent items only after a reply. */
  #lockstepCount = 0;
  /** Whether the last turn that sent items has sent them in halves. */
  #wasHalved = false;

  /** @param send Never rejects, and resolves when the reply has arrived. */
  constructor(private readonly send: Send<Item>) {}

  add(item: Item): void {
    this.#waiting.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    afterTurn(this.#flush);
  }

  /** A property, so that `#schedule` allocates no context, because it usually returns at once. */
  readonly #flush = (): void => {
    this.#isScheduled = false;
    const count = this.#waiting.length;
    const isInLockstep =
      REQUESTS_SHARE_CONNECTIONS && this.#hasReplied && this.#inFlightCount === 0 && count >= MIN_HALVED;
    // Callers that have waited for both halves, such as one with `Promise.all`, pay another round trip for them.
    if (isInLockstep && !this.#wasHalved) this.#lockstepCount += 1;
    else if (isInLockstep || !this.#hasReplied) this.#lockstepCount = 0;
    this.#hasReplied = false;
    const isHalved = isInLockstep && this.#lockstepCount > MIN_LOCKSTEPS;
    if (count > 0) this.#wasHalved = isHalved;
    this.#sendFirst(isHalved ? count >> 1 : count);
    if (isHalved) this.#holdTimer = setTimeout(this.#stopHolding, MAX_HOLD_MS);
  };

  /** Keeps a slow or silent server from delaying a half by two round trips, or one for another server by its own. */
  readonly #stopHolding = (): void => {
    this.#lockstepCount = 0;
    this.#release();
  };

  /** Sends the half that waits. An item that arrived since then goes with it, so that the order stays. */
  readonly #release = (): void => {
    if (this.#holdTimer !== undefined) this.#sendFirst(this.#waiting.length);
  };

  /** Sends the first items of those that wait. */
  #sendFirst(count: number): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
    const items = this.#waiting;
    this.#waiting = items.splice(count);
    for (let start = 0; start < count; start += MAX_ITEMS) {
      this.#sendBatch(count <= MAX_ITEMS ? items : items.slice(start, start + MAX_ITEMS));
    }
  }

  async #sendBatch(items: Item[]): Promise<void> {
    this.#inFlightCount += 1;
    await this.send(items, this.#release);
    this.#inFlightCount -= 1;
    this.#hasReplied = true;
    this.#schedule(); // This turn contains the checks that the reply triggers.
  }
}
