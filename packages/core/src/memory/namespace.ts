import type { StateLifecycle } from '../limits/limit.js';
import type { StateOwner } from '../operations/states.js';
import type { QueueMember } from '../util/priority-queue.js';
import { ExpiryQueue } from './expiry-queue.js';
import { Slab } from './slab.js';

/**
 * An expired key stays for another window, at most for a minute. A clock that steps back by less then finds the same
 * state.
 */
const MAX_GRACE_MICROS = 60_000_000;

/** More than one per new key, so that expired keys are dropped faster than new ones are added. */
export const SWEEPS_PER_NEW_KEY = 2;

/** A namespace's member of the queue by size. Its priority is minus the number of keys. */
export interface SizeMember extends QueueMember {
  readonly namespace: Namespace;
}

/** The keys of one limit of one prefix, or of one rolling counter. `Namespaces` contains it while it has keys. */
export class Namespace implements QueueMember {
  /** The address of each key's cell, even if its state has expired. */
  readonly addresses = new Map<string, number>();
  /** The keys by expiry, without those that a running operation must not evict. */
  readonly queue: ExpiryQueue;
  readonly sizeMember: SizeMember = { namespace: this, priority: 0, queueIndex: -1 };
  priority = 0;
  queueIndex = -1;
  /** Whose lookup was the last one, or `undefined` while the store has no keys of the namespace. */
  owner: StateOwner | undefined = undefined;
  /** The index in `queue` of the key that was last tested for being implausible. */
  #lastTested = 0;

  constructor(
    readonly name: string,
    /** Reads the states. Of the limits that have begun one, it is the one that keeps its keys the longest. */
    public lifecycle: StateLifecycle,
    slab: Slab,
  ) {
    this.queue = new ExpiryQueue(slab);
  }

  /** How long an expired key stays. */
  get graceMicros(): number {
    return Math.min(this.lifecycle.keepMicros, MAX_GRACE_MICROS);
  }

  /** The index in `queue` of the next key to test for being implausible. */
  nextTested(): number {
    this.#lastTested = (this.#lastTested + 1) % this.queue.size;
    return this.#lastTested;
  }
}

/** The namespace of all limits without keys. */
export const NO_NAMESPACE = new Namespace('', undefined as never, new Slab());
