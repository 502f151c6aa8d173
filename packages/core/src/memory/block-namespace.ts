import type { StateLifecycle } from '../limits/limit.js';
import { ExpiryQueue } from './expiry-queue.js';
import { Namespace } from './namespace.js';
import type { Slab } from './slab.js';

/** A namespace whose states are blocks of a slab. Its places are their addresses. */
export class BlockNamespace extends Namespace<number, ExpiryQueue> {
  constructor(name: string, lifecycle: StateLifecycle, slab: Slab) {
    super(name, lifecycle, new ExpiryQueue(slab));
  }
}
