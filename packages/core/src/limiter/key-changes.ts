import type { Awaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { resolveKeys } from '../plan/create-plan.js';
import type { Costs, Plan } from '../plan/plan.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { unsupported } from '../validation/unsupported.js';

/** Records costs without deciding. Returns the decision of a peek right after. */
export function chargeKeys(store: Store, plan: Plan, key: unknown, costs: Costs): Awaitable<Decision> {
  if (store.charge === undefined) throw unsupported('charge');
  return store.charge(plan, resolveKeys(plan, key), costs);
}

/** Drops the state of keys, and wakes the callers that wait for the quota that is free now. */
export async function resetKeys(store: Store, plan: Plan, key: unknown): Promise<void> {
  const keys = resolveKeys(plan, key);
  await store.reset(plan, keys);
  wakeWaiters(store, () => namesOf(store, plan, keys));
}
