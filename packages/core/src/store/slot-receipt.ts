import type { SettledCosts } from '../plan/plan.js';
import type { Awaitable } from '../util/awaitable.js';
import type { Store } from './store.js';

/**
 * The receipt of a decision that holds slots. It can be settled once and released once, in any order. Its methods take the
 * store of the limiter that calls them, and change nothing if they throw.
 */
export abstract class SlotReceipt {
  isSettled = false;
  /** The receipt of the store. */
  abstract readonly receipt: unknown;

  /** Refunds what the check recorded, and frees its slots. */
  abstract refund(store: Store): Awaitable<void>;
  /** Settles what the check recorded. That frees its slots if they cost nothing. */
  abstract settle(store: Store, costs: SettledCosts): Awaitable<void>;
  /** Frees the slots, once. */
  abstract release(store: Store): Awaitable<void>;
}
