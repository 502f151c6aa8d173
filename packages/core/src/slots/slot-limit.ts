import type { Awaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import type { LeasingLimit } from '../limits/limit.js';
import type { Key } from '../plan/create-plan.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import type { Store } from '../store/store.js';
import type { LeaseLoss } from './lease-loss.js';

/** Keeps the open slots of a limiter. */
export interface SlotKeeper {
  /** Keeps the slots of an allowed decision until they are released. Call it as soon as the check is sent. */
  hold(plan: Plan, keys: Keys, costs: Costs, key: Key, decision: Awaitable<Decision>): Awaitable<Decision>;
  /** Wakes the callers that wait for slots of these keys, because a reset has freed them. */
  wakeAll(plan: Plan, keys: Keys): void;
  /** Calls `wake` when this process frees a slot of these keys. Returns a function that ends that. */
  watch(plan: Plan, keys: Keys, wake: () => void): () => void;
  /** Ends all renewals for good. */
  close(): void;
}

/** A limit whose checks take slots. It brings the code that keeps them, so that bundles of other apps do not contain it. */
export interface SlotLimit extends LeasingLimit {
  /** Creates what keeps the open slots of `limiter`, whose slots are in `store`. */
  createSlotKeeper(
    limiter: object,
    store: Store,
    onLeaseLost: ((loss: LeaseLoss<never>) => void) | undefined,
  ): SlotKeeper;
}
