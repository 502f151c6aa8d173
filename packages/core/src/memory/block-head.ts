/*
 * The memory of a key: its namespace has a `Map` from the key to the address of one block of a `Slab`. The block is
 *
 *   0  QUEUE   the index of the key in the expiry queue of its namespace, or `UNQUEUED`
 *   1  LIFE    identifies this life of the key; each life has another number
 *   2  the state, as its algorithm describes it (`limits/`)
 *
 * Code that moves a block sets its address in the `Map` and in the queue. No address outlives the operation that read it, so receipts
 * contain the key and its life.
 */
import { offsetOf, type Slab } from './slab.js';

export const QUEUE = 0;
export const LIFE = 1;
export const HEAD = 2;

/** A new key is not queued until its limit has recorded, nor is one that its own check must not evict. */
export const UNQUEUED = -1;

/** Writes the index in the expiry queue into the block at this address. */
export function setQueueIndex(slab: Slab, address: number, index: number): void {
  slab.numbersAt(address)[offsetOf(address) + QUEUE] = index;
}
