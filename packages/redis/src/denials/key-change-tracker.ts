/** A Redis key of cached denials, with the number of its changes. */
export interface TrackedKey {
  /** The text of the plan that last checked the key. */
  planText: string;
  version: number;
  /** How many groups of denials use the key. */
  useCount: number;
}

/** Counts the changes of the keys that cached denials use. A denial is void when one of its keys has changed. */
export class KeyChangeTracker {
  readonly #tracked = new Map<string, TrackedKey>();

  get isEmpty(): boolean {
    return this.#tracked.size === 0;
  }

  has(key: string): boolean {
    return this.#tracked.has(key);
  }

  /** Starts to track keys for one more group of denials, which belongs to the plan with this text. */
  track(keys: readonly string[], planText: string): readonly TrackedKey[] {
    return keys.map((key) => {
      let tracked = this.#tracked.get(key);
      if (tracked === undefined) {
        tracked = { planText, version: 0, useCount: 0 };
        this.#tracked.set(key, tracked);
      }
      tracked.useCount += 1;
      return tracked;
    });
  }

  /** Reverses one call of {@link track}. */
  release(keys: readonly string[]): void {
    for (const key of keys) {
      const tracked = this.#tracked.get(key);
      if (tracked === undefined) continue;
      tracked.useCount -= 1;
      if (tracked.useCount === 0) this.#tracked.delete(key);
    }
  }

  /** Counts a change of each key that another plan checked last, because the limits of this plan may drop its state. */
  noteCheck(keys: readonly string[], planText: string): void {
    for (const key of keys) {
      const tracked = this.#tracked.get(key);
      if (tracked === undefined || tracked.planText === planText) continue;
      tracked.planText = planText;
      tracked.version += 1;
    }
  }

  /** Counts a change of each key. */
  noteChange(keys: readonly string[]): void {
    for (const key of keys) {
      const tracked = this.#tracked.get(key);
      if (tracked !== undefined) tracked.version += 1;
    }
  }

  clear(): void {
    this.#tracked.clear();
  }
}
