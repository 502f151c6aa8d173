/** A map that forgets the entry that was set first when it is full. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();

  constructor(readonly maxSize: number) {}

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.maxSize && !this.#entries.has(key)) {
      const [first] = this.#entries.keys();
      this.#entries.delete(first!);
    }
    this.#entries.set(key, value);
  }
}
