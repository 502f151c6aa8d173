import type { StateLifecycle } from './limits/limit.js';
import { PriorityQueue, type QueueMember } from './priority-queue.js';

/** The keys of one limit of one prefix, or of one rolling counter. {@link Namespaces} contains it while it has keys. */
export class Namespace implements QueueMember {
  readonly entries = new Map<string, Entry>();
  readonly queue = new PriorityQueue<Entry>();
  readonly sizeMember = new SizeMember(this);
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly name: string,
    readonly owner: Namespaces,
  ) {}
}

/** A namespace's member of the queue by size. Its priority is minus the number of entries, or lower after removals. */
class SizeMember implements QueueMember {
  priority = 0;
  queueIndex = -1;

  constructor(readonly namespace: Namespace) {}
}

/** One key of one rule, and its state. */
export class Entry implements QueueMember {
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly namespace: Namespace,
    readonly key: string,
    /** The limit that recorded last. It determines when the state expires. */
    public limit: StateLifecycle,
    readonly state: unknown,
  ) {}

  /** Whether the entry is in no table: removed, or not added yet. */
  get isRemoved(): boolean {
    return this.queueIndex < 0;
  }
}

/**
 * All entries, by namespace. Each namespace queues its entries by expiry, so that it can evict the one that expires
 * first. One queue has the namespaces by the expiry of their first entry. Another one has them by size, so that finding
 * the largest takes O(log namespaces).
 */
export class Namespaces {
  readonly #byName = new Map<string, Namespace>();
  readonly #queue = new PriorityQueue<Namespace>();
  readonly #sizes = new PriorityQueue<SizeMember>();
  #size = 0;

  /** The number of entries. */
  get size(): number {
    return this.#size;
  }

  /** The entry that is queued for the earliest time. */
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
      if (-namespace.entries.size < namespace.sizeMember.priority)
        this.#sizes.move(namespace.sizeMember, -namespace.entries.size);
    } else {
      this.#byName.set(namespace.name, namespace);
      this.#queue.add(namespace, micros);
      this.#sizes.add(namespace.sizeMember, -namespace.entries.size);
    }
  }

  move(entry: Entry, micros: number): void {
    entry.namespace.queue.move(entry, micros);
    this.#requeue(entry.namespace);
  }

  /** Replaces an entry by another one, queued for the same time. */
  replace(entry: Entry, replacement: Entry): void {
    replacement.namespace.entries.set(replacement.key, replacement);
    replacement.namespace.queue.replace(entry, replacement);
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
      this.#sizes.remove(namespace.sizeMember);
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
   * Returns the namespace that evicts an entry to make room for a new one of `namespace`, when there are `maxKeys`
   * entries or more. The share of each namespace is `maxKeys / namespaces`. A namespace that has reached its share
   * evicts its own entry. Otherwise the largest namespace does.
   *
   * So no namespace loses an entry to another one while it has at most its share, rounded down. Proof: when `namespace`
   * has less than its share, all others together have more than their shares. So the largest has more than its share,
   * and has at least that share after the eviction.
   */
  findEvictionSource(namespace: Namespace, maxKeys: number): Namespace {
    const isNew = namespace.queueIndex < 0;
    const share = maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    return namespace.entries.size >= share ? namespace : this.#findLargest();
  }

  *[Symbol.iterator](): Iterator<Namespace> {
    yield* this.#byName.values();
  }

  /** Corrects the priority of namespaces that have lost entries, until the first one is correct. */
  #findLargest(): Namespace {
    for (;;) {
      const first = this.#sizes.first as SizeMember;
      const { size } = first.namespace.entries;
      if (-size === first.priority) return first.namespace;
      this.#sizes.move(first, -size);
    }
  }

  /** Queues the namespace for the time of its first entry, if that has changed. */
  #requeue(namespace: Namespace): void {
    const { priority } = namespace.queue.first as Entry;
    if (priority !== namespace.priority) this.#queue.move(namespace, priority);
  }
}
