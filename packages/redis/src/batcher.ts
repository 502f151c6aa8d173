/** A script runs alone: more at once would let other clients of the server wait. */
const LARGEST = 100;

/** From here on it is worth while to send a half. */
const WORTH_HALVING = 16;

/** So many batches in a row that waited for nothing but the answer to the one before are no accident. */
const IN_LOCKSTEP = 16;

/**
 * Collects what is added within one turn of the event loop, and hands it on, in its order, when the turn ends: in parts
 * of at most a hundred.
 *
 * When those who ask do so only after an answer, all of them at once, then Redis waits while this process works, and this
 * process while Redis does. Then half of a batch goes a turn later: from then on both work at the same time.
 */
export class Batcher<Item> {
  readonly #send: (items: Item[]) => Promise<void>;
  #waiting: Item[] = [];
  #isScheduled = false;
  #sentCount = 0;
  #wasAnswered = false;
  #lockstepCount = 0;

  /** `send` never rejects; it resolves when the answer is there. */
  constructor(send: (items: Item[]) => Promise<void>) {
    this.#send = send;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const items = this.#waiting;
    this.#waiting = [];
    const isInLockstep = this.#wasAnswered && this.#sentCount === 0 && items.length >= WORTH_HALVING;
    if (isInLockstep) this.#lockstepCount += 1;
    else if (!this.#wasAnswered) this.#lockstepCount = 0;
    this.#wasAnswered = false;
    if (isInLockstep && this.#lockstepCount > IN_LOCKSTEP) {
      this.#waiting = items.splice(items.length >> 1);
      this.#schedule();
    }
    for (let start = 0; start < items.length; start += LARGEST) {
      this.#sendPart(items.length <= LARGEST ? items : items.slice(start, start + LARGEST));
    }
  }

  async #sendPart(items: Item[]): Promise<void> {
    this.#sentCount += 1;
    await this.#send(items);
    this.#sentCount -= 1;
    this.#wasAnswered = true;
    this.#schedule(); // What is asked on account of the answer is in this turn.
  }
}
