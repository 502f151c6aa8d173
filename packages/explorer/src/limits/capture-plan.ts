import { type Limit, MemoryStore, RateLimiter } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import type { Costs, Keys, Plan } from '@rollgate/core/store';

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

  override charge(plan: Plan, keys: Keys, costs: Costs) {
    this.recorded = { plan, keys };
    return super.charge(plan, keys, costs);
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

/** The plan that `credit` passes to the store of a limiter. It calls the store before it returns its promise. */
export function captureCreditingPlan(
  limits: Readonly<Record<string, Limit>>,
  keys: Readonly<Record<string, string>>,
  beyond: boolean,
): Plan {
  const store = new PlanRecorder();
  void credit(new RateLimiter({ limits, store }), keys, 1, { beyond });
  store.close();
  return store.recorded!.plan;
}
