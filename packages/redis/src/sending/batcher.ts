import { afterTurn } from '../base/platform.js';
import { Lockstep } from './lockstep.js';

/** The most items of one batch. A script blocks the server, so a larger batch would delay other clients. */
const MAX_ITEMS = 100;
/** How long half of a batch waits at most. If replies take longer, the wait between them is not worth avoiding. */
const MAX_HOLD_MS = 5;

/** Sends a batch. Calls `onReply` as soon as the reply has arrived, before it reads the reply. */
type Send<Item> = (items: Item[], onReply: () => void) => Promise<void>;

/**
 * Collects the items of one turn of the event loop. When the turn ends, it sends them in order, in batches of at most 100.
 *
 * {@link Lockstep} detects that Redis and this process wait for each other. Then half of a batch waits for the reply to the
 * other half, and is sent before this process reads that reply. From then on, Redis works on one half while this process
 * works on the other. The half waits for 5 ms at most.
 */
export class Batcher<Item> {
  readonly #send: Send<Item>;
  #waiting: Item[] = [];
  /** Runs while half of a batch waits for the reply to the other. */
  #holdTimer: ReturnType<typeof setTimeout> | undefined;
  #isScheduled = false;
  #inFlightCount = 0;
  readonly #lockstep = new Lockstep();

  /** @param send Never rejects, and resolves when the reply has arrived. */
  constructor(send: Send<Item>) {
    this.#send = send;
  }

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
    const isHalved = this.#lockstep.detect(count, this.#inFlightCount);
    this.#sendFirst(isHalved ? count >> 1 : count);
    if (isHalved) this.#holdTimer = setTimeout(this.#stopHolding, MAX_HOLD_MS);
  };

  /** Keeps a slow or silent server from delaying a half by two round trips, or one for another server by its own. */
  readonly #stopHolding = (): void => {
    this.#lockstep.reset();
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
    await this.#send(items, this.#release);
    this.#inFlightCount -= 1;
    this.#lockstep.noteReply();
    this.#schedule(); // This turn contains the checks that the reply triggers.
  }
}
