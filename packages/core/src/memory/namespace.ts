import type { QueueMember } from '../base/priority-queue.js';
import type { StateLifecycle } from '../limits/limit.js';
import { ExpiryQueue } from './expiry-queue.js';
import type { Slab } from './slab.js';

/**
 * An expired key stays for another window, at most for a minute. A clock that steps back by less then finds the same
 * state.
 */
const MAX_GRACE_MICROS = 60_000_000;

/** The keys of one limit of one prefix, or of one rolling counter. `Namespaces` contains it while it has keys. */
export class Namespace implements QueueMember {
  /** The address of each key's block. */
  readonly addresses = new Map<string, number>();
  /** The keys by expiry, without the new ones of a running check. */
  readonly queue: ExpiryQueue;
  readonly sizeMember = new SizeMember(this);
  /** The index in `queue` of the key that was last tested for being implausible. */
  lastTested = 0;
  priority = 0;
  queueIndex = -1;

  constructor(
    readonly name: string,
    /** Reads the states. Of the limits that have created one, it is the one that keeps its keys the longest. */
    public lifecycle: StateLifecycle,
    slab: Slab,
  ) {
    this.queue = new ExpiryQueue(slab);
  }

  /** How long an expired key stays. */
  get graceMicros(): number {
    return Math.min(this.lifecycle.keepMicros, MAX_GRACE_MICROS);
  }
}

/** A namespace's member of the queue by size. Its priority is minus the number of keys. */
export class SizeMember implements QueueMember {
  priority = 0;
  queueIndex = -1;

  constructor(readonly namespace: Namespace) {}
}
