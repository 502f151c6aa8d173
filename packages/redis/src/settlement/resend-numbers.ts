import { hashTagOf } from '../operations/redis-keys.js';
import { hashSlotOf } from '../util/hash-slot.js';
import { randomId } from '../util/platform.js';

/** How many operations one Redis key marks as done, with a bit each. */
const NUMBERS_PER_KEY = 512;
const SLOTS = 16_384;
const MAX_TRIES = 1000;

/**
 * Numbers the operations of a store that must not run twice. A client resends a command without a reply after a broken
 * connection, even if Redis executed it. The script then finds the number marked as done.
 */
export class ResendNumbers {
  readonly #storeId = randomId();
  /** How many operations have a number, by the slot of a Cluster. */
  readonly #counts: Uint32Array;

  constructor(private readonly isCluster: boolean) {
    this.#counts = new Uint32Array(isCluster ? SLOTS : 1);
  }

  /**
   * Returns the next number. On a Cluster, its key is in the slot of `neighbor`, a Redis key of the operation. All client keys
   * of a slot share it, because each of them would leave its own otherwise.
   */
  next(neighbor: string) {
    const slot = this.isCluster ? hashSlotOf(neighbor) : 0;
    const count = this.#counts[slot]!++;
    const number = count % NUMBERS_PER_KEY;
    const name = `${this.#storeId}.${(count - number) / NUMBERS_PER_KEY}`;
    const prefix = neighbor.slice(0, neighbor.indexOf('{'));
    // No limit's name starts with `#`.
    if (!this.isCluster) return { key: `${prefix}{${name}}:#done`, number };
    // With `clusterSlot: 'prefix'`, the tag is the limiter's prefix. An ACL may require it.
    const tag = prefix === '' ? undefined : tagOfSlot(slot);
    const start = tag === undefined ? hashTagOf(neighbor) : `${prefix}{${tag}`;
    return { key: `${start}}:${name}:#done`, number };
  }
}

/** A short hash tag for each slot of a Cluster, found so far. */
const tags = new Map<number, string>();
let triedTags = 0;

/**
 * Returns a hash tag of the slot, or `undefined` if it is not found yet. A call tries few texts, so that none takes more than
 * about a millisecond. About 170 calls find the tags of all slots.
 */
function tagOfSlot(slot: number): string | undefined {
  for (let tries = 0; tries < MAX_TRIES && !tags.has(slot); tries++) {
    const tag = String(triedTags++);
    const itsSlot = hashSlotOf(tag);
    if (!tags.has(itsSlot)) tags.set(itsSlot, tag);
  }
  return tags.get(slot);
}
