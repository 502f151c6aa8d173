import type { State } from '../limits/limit.js';

/** The end of a state as a separate state: the numbers from an offset on. */
export class StateTail implements State {
  readonly #state: State;
  readonly #offset: number;

  constructor(state: State, offset: number) {
    this.#state = state;
    this.#offset = offset;
  }

  get numbers(): Float64Array {
    return this.#state.numbers;
  }

  get start(): number {
    return this.#state.start + this.#offset;
  }

  get size(): number {
    return this.#state.size - this.#offset;
  }

  get diesWithProcess(): boolean {
    return this.#state.diesWithProcess === true;
  }

  resize(size: number): void {
    this.#state.resize(size + this.#offset);
  }
}
