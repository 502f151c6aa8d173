/** A state that this process has read or written, and the version that its first row has then. */
export interface CachedState {
  readonly version: string;
  readonly numbers: Float64Array;
  /** Whether another process had written it when this process last read it. */
  readonly isShared?: boolean | undefined;
}

/** The most numbers that the cache holds, which take 8 MB. */
const MOST_NUMBERS = 2 ** 20;

/**
 * Remembers states of several rows, so that a check need not read them all again while no other process has written. Each
 * write gives the state a random version, so an old version never returns.
 */
export class StateCache {
  /** The oldest entry first. */
  readonly #states = new Map<string, CachedState>();
  #numbers = 0;

  get(key: string): CachedState | undefined {
    return this.#states.get(key);
  }

  /** Returns the numbers of a state that no other process has written since. */
  confirm(key: string): Float64Array {
    const { version, numbers } = this.#states.get(key)!;
    this.#states.set(key, { version, numbers });
    return numbers;
  }

  set(key: string, state: CachedState): void {
    this.delete(key);
    this.#states.set(key, state);
    this.#numbers += state.numbers.length;
    for (const oldest of this.#states.keys()) {
      if (this.#numbers <= MOST_NUMBERS) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#numbers -= this.#states.get(key)?.numbers.length ?? 0;
    this.#states.delete(key);
  }
}
