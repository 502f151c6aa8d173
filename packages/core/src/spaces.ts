import { type Expiring, ExpiryQueue } from './expiry-queue.js';
import type { Keeper } from './limits/limit.js';

/** The keys of one limit of one prefix, or of one rolling counter. It is among the spaces while it has any. */
export class Space implements Expiring {
  readonly entries = new Map<string, Entry>();
  readonly queue = new ExpiryQueue<Entry>();
  readonly size = new Size(this);
  queuedMicros = 0;
  queueIndex = -1;

  constructor(
    readonly name: string,
    readonly owner: Spaces,
  ) {}
}

/** A space's member of the queue by size. It is queued for minus its number of entries, or for less after it has lost some. */
class Size implements Expiring {
  queuedMicros = 0;
  queueIndex = -1;

  constructor(readonly space: Space) {}
}

/** One key of one rule. */
export class Entry implements Expiring {
  queuedMicros = 0;
  queueIndex = -1;

  constructor(
    readonly space: Space,
    readonly key: string,
    /** The limit that recorded last: the one that can read the state. */
    public limit: Keeper,
    readonly state: unknown,
  ) {}

  /** Whether the key was forgotten, and its hits with it. */
  get isForgotten(): boolean {
    return this.queueIndex < 0;
  }
}

/**
 * All entries, by their spaces. Each space queues its own entries, so that any space can give up the one nearest to its expiry,
 * and the spaces are queued by their nearest entry. A second queue has them by their size, so that the largest is found in
 * O(log spaces).
 */
export class Spaces {
  readonly #byName = new Map<string, Space>();
  readonly #queue = new ExpiryQueue<Space>();
  readonly #sizes = new ExpiryQueue<Size>();
  #size = 0;

  /** How many entries there are. */
  get size(): number {
    return this.#size;
  }

  /** The entry that is queued for the nearest time. */
  get first(): Entry | undefined {
    return this.#queue.first?.queue.first;
  }

  get(name: string): Space | undefined {
    return this.#byName.get(name);
  }

  /** Whether the entry is, or was, one of these. */
  has(entry: Entry): boolean {
    return entry.space.owner === this;
  }

  add(entry: Entry, micros: number): void {
    const { space } = entry;
    space.entries.set(entry.key, entry);
    space.queue.add(entry, micros);
    this.#size += 1;
    if (space.queueIndex >= 0) {
      this.#requeue(space);
      if (-space.entries.size < space.size.queuedMicros) this.#sizes.move(space.size, -space.entries.size);
    } else {
      this.#byName.set(space.name, space);
      this.#queue.add(space, micros);
      this.#sizes.add(space.size, -space.entries.size);
    }
  }

  move(entry: Entry, micros: number): void {
    entry.space.queue.move(entry, micros);
    this.#requeue(entry.space);
  }

  /** Replaces this entry by another one, for the same time. */
  replace(entry: Entry, by: Entry): void {
    by.space.entries.set(by.key, by);
    by.space.queue.replace(entry, by);
  }

  remove(entry: Entry): void {
    const { space } = entry;
    space.entries.delete(entry.key);
    space.queue.remove(entry);
    this.#size -= 1;
    if (space.entries.size > 0) {
      this.#requeue(space);
    } else {
      this.#byName.delete(space.name);
      this.#queue.remove(space);
      this.#sizes.remove(space.size);
    }
  }

  clear(): void {
    for (const space of this.#byName.values()) {
      space.entries.clear();
      space.queue.clear();
    }
    this.#byName.clear();
    this.#queue.clear();
    this.#sizes.clear();
    this.#size = 0;
  }

  /**
   * The space that makes room for a new entry of `space` when there are `maxKeys` entries or more. Each space has a share of
   * `maxKeys / spaces`. One that has its share gives up an entry of its own; for one that has less, the largest does.
   *
   * So no space loses an entry to another one while it has no more than its share, rounded down: when `space` has less than its
   * share, the others together have more than all of theirs, so one of them is above its own and stays at it or above.
   */
  toMakeRoom(space: Space, maxKeys: number): Space {
    const isNew = space.queueIndex < 0;
    const share = maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    return space.entries.size >= share ? space : this.#findLargest();
  }

  *[Symbol.iterator](): Iterator<Space> {
    yield* this.#byName.values();
  }

  /** Queues each space that has lost entries for its true size, until the first one is true. */
  #findLargest(): Space {
    for (;;) {
      const first = this.#sizes.first as Size;
      const { size } = first.space.entries;
      if (-size === first.queuedMicros) return first.space;
      this.#sizes.move(first, -size);
    }
  }

  /** Queues the space by its nearest entry, when that is another time than it is queued for. */
  #requeue(space: Space): void {
    const { queuedMicros } = space.queue.first as Entry;
    if (queuedMicros !== space.queuedMicros) this.#queue.move(space, queuedMicros);
  }
}
