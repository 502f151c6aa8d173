import { type Limit, MemoryStore, RateLimiter } from '@rollgate/core';
import type { Keys, Plan } from '@rollgate/core/store';

/** A limiter's plan and keys, as its store gets them. */
export interface Planned {
  readonly plan: Plan;
  readonly keys: Keys;
}

class Catcher extends MemoryStore {
  caught: Planned | undefined;

  override check(plan: Plan, keys: Keys, cost: number) {
    this.caught = { plan, keys };
    return super.check(plan, keys, cost);
  }
}

/**
 * The plan and the keys that a limiter passes to its store. A direct peek of the store needs them, and returns no
 * promise.
 */
export function createPlan(limits: Readonly<Record<string, Limit>>, keys: Readonly<Record<string, string>>): Planned {
  const store = new Catcher();
  new RateLimiter({ limits, store }).decide(keys);
  store.close();
  return store.caught!;
}
