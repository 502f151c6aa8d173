import type { StateLifecycle } from './limits/limit.js';
import { PriorityQueue, type QueueMember } from './priority-queue.js';

/** The keys of one limit of one prefix, or of one rolling counter. It is among the namespaces while it has any. */
export class Namespace implements QueueMember {
  readonly entries = new Map<string, Entry>();
  readonly queue = new PriorityQueue<Entry>();
  readonly size = new Size(this);
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly name: string,
    readonly owner: Namespaces,
  ) {}
}

/** A namespace's member of the queue by size. It is queued for minus its number of entries, or for less after it has lost some. */
class Size implements QueueMember {
  priority = 0;
  queueIndex = -1;

  constructor(readonly namespace: Namespace) {}
}

/** One key of one rule. */
export class Entry implements QueueMember {
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly namespace: Namespace,
    readonly key: string,
    /** The limit that recorded last: the one that can read the state. */
    public limit: StateLifecycle,
    readonly state: unknown,
  ) {}

  /** Whether the key was forgotten, and its hits with it. */
  get isRemoved(): boolean {
    return this.queueIndex < 0;
  }
}

/**
 * All entries, by their namespaces. Each namespace queues its own entries, so that any namespace can give up the one nearest to its expiry,
 * and the namespaces are queued by their nearest entry. A second queue has them by their size, so that the largest is found in
 * O(log namespaces).
 */
export class Namespaces {
  readonly #byName = new Map<string, Namespace>();
  readonly #queue = new PriorityQueue<Namespace>();
  readonly #sizes = new PriorityQueue<Size>();
  #size = 0;

  /** How many entries there are. */
  get size(): number {
    return this.#size;
  }

  /** The entry that is queued for the nearest time. */
  get first(): Entry | undefined {
    return this.#queue.first?.queue.first;
  }

  get(name: string): Namespace | undefined {
    return this.#byName.get(name);
  }

  /** Whether the entry is, or was, one of these. */
  has(entry: Entry): boolean {
    return entry.namespace.owner === this;
  }

  add(entry: Entry, micros: number): void {
    const { namespace } = entry;
    namespace.entries.set(entry.key, entry);
    namespace.queue.add(entry, micros);
    this.#size += 1;
    if (namespace.queueIndex >= 0) {
      this.#requeue(namespace);
      if (-namespace.entries.size < namespace.size.priority) this.#sizes.move(namespace.size, -namespace.entries.size);
    } else {
      this.#byName.set(namespace.name, namespace);
      this.#queue.add(namespace, micros);
      this.#sizes.add(namespace.size, -namespace.entries.size);
    }
  }

  move(entry: Entry, micros: number): void {
    entry.namespace.queue.move(entry, micros);
    this.#requeue(entry.namespace);
  }

  /** Replaces this entry by another one, for the same time. */
  replace(entry: Entry, by: Entry): void {
    by.namespace.entries.set(by.key, by);
    by.namespace.queue.replace(entry, by);
  }

  remove(entry: Entry): void {
    const { namespace } = entry;
    namespace.entries.delete(entry.key);
    namespace.queue.remove(entry);
    this.#size -= 1;
    if (namespace.entries.size > 0) {
      this.#requeue(namespace);
    } else {
      this.#byName.delete(namespace.name);
      this.#queue.remove(namespace);
      this.#sizes.remove(namespace.size);
    }
  }

  clear(): void {
    for (const namespace of this.#byName.values()) {
      namespace.entries.clear();
      namespace.queue.clear();
    }
    this.#byName.clear();
    this.#queue.clear();
    this.#sizes.clear();
    this.#size = 0;
  }

  /**
   * The namespace that makes room for a new entry of `namespace` when there are `maxKeys` entries or more. Each namespace has a share of
   * `maxKeys / namespaces`. One that has its share gives up an entry of its own; for one that has less, the largest does.
   *
   * So no namespace loses an entry to another one while it has no more than its share, rounded down: when `namespace` has less than its
   * share, the others together have more than all of theirs, so one of them is above its own and stays at it or above.
   */
  findEvictionSource(namespace: Namespace, maxKeys: number): Namespace {
    const isNew = namespace.queueIndex < 0;
    const share = maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    return namespace.entries.size >= share ? namespace : this.#findLargest();
  }

  *[Symbol.iterator](): Iterator<Namespace> {
    yield* this.#byName.values();
  }

  /** Queues each namespace that has lost entries for its true size, until the first one is true. */
  #findLargest(): Namespace {
    for (;;) {
      const first = this.#sizes.first as Size;
      const { size } = first.namespace.entries;
      if (-size === first.priority) return first.namespace;
      this.#sizes.move(first, -size);
    }
  }

  /** Queues the namespace by its nearest entry, when that is another time than it is queued for. */
  #requeue(namespace: Namespace): void {
    const { priority } = namespace.queue.first as Entry;
    if (priority !== namespace.priority) this.#queue.move(namespace, priority);
  }
}
