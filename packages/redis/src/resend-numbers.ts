import { randomId } from './platform.js';
import { hashTagOf } from './redis-keys.js';

/** How many operations one Redis key marks as done, with a bit each. */
const NUMBERS_PER_KEY = 512;

/** The number of an operation, and the Redis key that marks it as done. */
export interface OperationNumber {
  readonly key: string;
  readonly number: number;
}

/**
 * Numbers the operations of a store that must not run twice. A client resends a command without a reply after a broken
 * connection, even if Redis executed it. The script then finds the number marked as done.
 */
export class OperationNumbers {
  readonly #storeId = randomId();
  readonly #isCluster: boolean;
  #next = 0;

  constructor(isCluster: boolean) {
    this.#isCluster = isCluster;
  }

  /** Returns the next number. On a Cluster, its key is in the slot of `neighbor`, a Redis key of the operation. */
  next(neighbor: string): OperationNumber {
    const next = this.#next++;
    const number = next % NUMBERS_PER_KEY;
    const name = `${this.#storeId}.${(next - number) / NUMBERS_PER_KEY}`;
    const prefix = neighbor.slice(0, neighbor.indexOf('{'));
    // No limit's name starts with `#`.
    return { key: this.#isCluster ? `${hashTagOf(neighbor)}}:${name}:#done` : `${prefix}{${name}}:#done`, number };
  }
}
