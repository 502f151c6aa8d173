/** How often a key that denials are kept of has changed. */
export interface TrackedKey {
  /** Of the plan that asked last. */
  text: string;
  version: number;
  /** How many questions with kept denials use the key. */
  useCount: number;
}

/** Counts the changes of the keys that denials are kept of. A denial is void once one of its keys has changed. */
export class KeyChangeTracker {
  readonly #notes = new Map<string, TrackedKey>();

  get isEmpty(): boolean {
    return this.#notes.size === 0;
  }

  has(key: string): boolean {
    return this.#notes.has(key);
  }

  /** Begins to count the changes of keys for a question of the plan with this text. */
  use(keys: readonly string[], text: string): readonly TrackedKey[] {
    return keys.map((key) => {
      let note = this.#notes.get(key);
      if (note === undefined) {
        note = { text, version: 0, useCount: 0 };
        this.#notes.set(key, note);
      }
      note.useCount += 1;
      return note;
    });
  }

  /** Ends what {@link use} began. */
  release(keys: readonly string[]): void {
    for (const key of keys) {
      const note = this.#notes.get(key);
      if (note === undefined) continue;
      note.useCount -= 1;
      if (note.useCount === 0) this.#notes.delete(key);
    }
  }

  /** Counts a change of keys of which another plan has asked since: its limits may have dropped their state. */
  asked(keys: readonly string[], text: string): void {
    for (const key of keys) {
      const note = this.#notes.get(key);
      if (note === undefined || note.text === text) continue;
      note.text = text;
      note.version += 1;
    }
  }

  changed(keys: readonly string[]): void {
    for (const key of keys) {
      const note = this.#notes.get(key);
      if (note !== undefined) note.version += 1;
    }
  }

  clear(): void {
    this.#notes.clear();
  }
}
