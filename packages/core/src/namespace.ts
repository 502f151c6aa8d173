import { ExpiryQueue } from './expiry-queue.js';
import type { StateLifecycle } from './limits/limit.js';
import type { QueueMember } from './priority-queue.js';

/** The keys of one limit of one prefix, or of one rolling counter. `Namespaces` contains it while it has keys. */
export class Namespace implements QueueMember {
  /** The address of each key's block. */
  readonly addresses = new Map<string, number>();
  readonly queue = new ExpiryQueue();
  readonly sizeMember = new SizeMember(this);
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly name: string,
    /** Reads the states. Of the limits that have created one, it is the one that keeps its keys the longest. */
    public lifecycle: StateLifecycle,
  ) {}
}

/** A namespace's member of the queue by size. Its priority is minus the number of keys, or lower after removals. */
export class SizeMember implements QueueMember {
  priority = 0;
  queueIndex = -1;

  constructor(readonly namespace: Namespace) {}
}
