import type { QueueMember } from '../base/priority-queue.js';
import type { State, StateLifecycle } from '../limits/limit.js';

/**
 * An expired key stays for another window, at most for a minute. A clock that steps back by less then finds the same
 * state.
 */
const MAX_GRACE_MICROS = 60_000_000;

/** More than one per new key, so that expired keys are dropped faster than new ones are added. */
export const SWEEPS_PER_NEW_KEY = 2;

/** How many keys a search for an implausible one looks at. */
const PLAUSIBILITY_TESTS = 16;

/** The keys of a namespace by expiry. */
export interface KeyQueue {
  readonly size: number;
  /** The time for which the first key is queued, if there is one. */
  readonly firstMicros: number | undefined;
}

/** A namespace's member of the queue by size. Its priority is minus the number of keys. */
export interface SizeMember extends QueueMember {
  readonly namespace: Namespace;
}

/**
 * The keys of one limit of one prefix, or of one rolling counter. `Namespaces` contains it while it has keys.
 *
 * @typeParam Place Where a key's state is.
 */
export class Namespace<Place = unknown, Queue extends KeyQueue = KeyQueue> implements QueueMember {
  /** Where the state of each key is. */
  readonly places = new Map<string, Place>();
  readonly sizeMember: SizeMember = { namespace: this, priority: 0, queueIndex: -1 };
  priority = 0;
  queueIndex = -1;
  /** The index in `queue` of the key that was last tested for being implausible. */
  #lastTested = 0;

  constructor(
    readonly name: string,
    /** Reads the states. Of the limits that have created one, it is the one that keeps its keys the longest. */
    public lifecycle: StateLifecycle,
    /** The keys by expiry, without those that a running operation must not evict. */
    readonly queue: Queue,
  ) {}

  /** How long an expired key stays. */
  get graceMicros(): number {
    return Math.min(this.lifecycle.keepMicros, MAX_GRACE_MICROS);
  }

  /**
   * Returns an implausible state, if it finds one. It looks at some keys, and at others the next time. So it finds implausible
   * ones while they are many.
   *
   * @param open Returns the state of the key at an index in `queue`, unless it is certainly plausible.
   */
  findImplausible<Found extends State>(
    nowMicros: number,
    open: (index: number) => Found | undefined,
  ): Found | undefined {
    const tests = Math.min(PLAUSIBILITY_TESTS, this.queue.size);
    for (let test = 0; test < tests; test++) {
      this.#lastTested = (this.#lastTested + 1) % this.queue.size;
      const state = open(this.#lastTested);
      if (state !== undefined && !this.lifecycle.isPlausible(state, nowMicros)) return state;
    }
    return undefined;
  }
}
