/**
 * Keys by the time for which they are queued, as a binary heap. A member may become stale, because its key was removed or
 * queued for another time. The queue does not know that. Its owner drops such a member when it becomes the first.
 */
export class ExpiryQueue {
  readonly #micros: number[] = [];
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** The earliest time. The queue is not empty. */
  get firstMicros(): number {
    return this.#micros[0]!;
  }

  /** The key with the earliest time. The queue is not empty. */
  get firstKey(): string {
    return this.#keys[0]!;
  }

  add(micros: number, key: string): void {
    let at = this.#keys.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#micros[parent]! <= micros) break;
      this.#set(at, this.#micros[parent]!, this.#keys[parent]!);
      at = parent;
    }
    this.#set(at, micros, key);
  }

  removeFirst(): void {
    const micros = this.#micros.pop()!;
    const key = this.#keys.pop()!;
    if (this.#keys.length > 0) this.#setFirst(micros, key);
  }

  /** Queues the first key for a later time. */
  deferFirst(micros: number): void {
    this.#setFirst(micros, this.firstKey);
  }

  clear(): void {
    this.#micros.length = 0;
    this.#keys.length = 0;
  }

  /** Replaces the first key, and moves the new one behind those with earlier times. */
  #setFirst(micros: number, key: string): void {
    const { length } = this.#keys;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#micros[child + 1]! < this.#micros[child]!) child += 1;
      if (this.#micros[child]! >= micros) break;
      this.#set(at, this.#micros[child]!, this.#keys[child]!);
      at = child;
    }
    this.#set(at, micros, key);
  }

  #set(at: number, micros: number, key: string): void {
    this.#micros[at] = micros;
    this.#keys[at] = key;
  }
}
