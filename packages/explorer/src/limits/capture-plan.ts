import { type Limit, MemoryStore, RateLimiter } from '@rollgate/core';
import type { Keys, Plan } from '@rollgate/core/store';

/** A limiter's plan and keys, as its store gets them. */
export interface PlanWithKeys {
  readonly plan: Plan;
  readonly keys: Keys;
}

class PlanRecorder extends MemoryStore {
  recorded: PlanWithKeys | undefined;

  override check(plan: Plan, keys: Keys, cost: number) {
    this.recorded = { plan, keys };
    return super.check(plan, keys, cost);
  }
}

/**
 * The plan and the keys that a limiter passes to its store. A direct peek of the store needs them. It returns no
 * promise.
 */
export function capturePlan(
  limits: Readonly<Record<string, Limit>>,
  keys: Readonly<Record<string, string>>,
): PlanWithKeys {
  const store = new PlanRecorder();
  new RateLimiter({ limits, store }).decide(keys);
  store.close();
  return store.recorded!;
}
