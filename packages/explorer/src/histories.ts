/** A tree of histories: each is another one with one more action. Takes 7 bytes for each. */
export class Histories {
  count = 1;
  #parents = new Uint32Array(1024);
  #actions = new Uint16Array(1024);
  #lengths = new Uint8Array(1024);

  /** Adds an action, a number below 2^16, to a history. Returns the index of the new one. That without actions has index 0. */
  add(parent: number, action: number): number {
    if (this.count === this.#parents.length) {
      this.#parents = grown(this.#parents, new Uint32Array(2 * this.count));
      this.#actions = grown(this.#actions, new Uint16Array(2 * this.count));
      this.#lengths = grown(this.#lengths, new Uint8Array(2 * this.count));
    }
    this.#parents[this.count] = parent;
    this.#actions[this.count] = action;
    this.#lengths[this.count] = this.#lengths[parent]! + 1;
    return this.count++;
  }

  lengthOf(index: number): number {
    return this.#lengths[index]!;
  }

  /** The actions of the history at `index`, first one first. */
  at(index: number): number[] {
    const actions = new Array<number>(this.lengthOf(index));
    for (let at = index, place = actions.length - 1; place >= 0; at = this.#parents[at]!, place--)
      actions[place] = this.#actions[at]!;
    return actions;
  }
}

function grown<Block extends { set(block: Block): void }>(block: Block, larger: Block): Block {
  larger.set(block);
  return larger;
}
