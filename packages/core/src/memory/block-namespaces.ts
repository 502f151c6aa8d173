import { UNQUEUED } from './block-head.js';
import type { BlockNamespace } from './block-namespace.js';
import type { Entry } from './entry.js';
import { Namespaces } from './namespaces.js';

/**
 * The namespaces of a store whose states are blocks. Each key is queued for its expiry or earlier. So a hit, which only
 * postpones the expiry, does not touch the queue. Each method takes O(log keys + log namespaces).
 */
export class BlockNamespaces extends Namespaces<BlockNamespace> {
  /** Adds the key of a new entry, which is not queued yet. */
  add({ namespace, key, address }: Entry): void {
    namespace.places.set(key, address);
    this.onAdded(namespace);
  }

  /** Removes the key and releases its block. */
  remove(entry: Entry): void {
    const { namespace } = entry;
    if (entry.queueIndex !== UNQUEUED) this.dequeue(entry);
    namespace.places.delete(entry.key);
    entry.release();
    this.onRemoved(namespace);
  }

  /** Queues a key that is not queued. `entry.key` is the table's copy. */
  enqueue({ namespace, key, address }: Entry, micros: number): void {
    namespace.queue.add(micros, key, address);
    this.requeue(namespace);
  }

  /** Queues a queued key for another time. */
  move({ namespace, queueIndex }: Entry, micros: number): void {
    namespace.queue.move(queueIndex, micros);
    this.requeue(namespace);
  }

  /** Takes a queued key out of the queue of its namespace. */
  dequeue({ namespace, queueIndex }: Entry): void {
    namespace.queue.remove(queueIndex);
    this.requeue(namespace);
  }
}
