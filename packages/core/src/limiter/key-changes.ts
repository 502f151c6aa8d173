import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { hasReport } from '../engine/reserving-limit.js';
import { resolveKeys } from '../plan/create-plan.js';
import type { Costs, Plan } from '../plan/plan.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { unsupported } from '../validation/unsupported.js';

/** Records costs without deciding. Returns the decision of a peek right after. Reported numbers may free units. */
export function chargeKeys(store: Store, plan: Plan, key: unknown, costs: Costs): Awaitable<Decision> {
  if (store.charge === undefined) throw unsupported('charge');
  const keys = resolveKeys(plan, key);
  const charged = store.charge(plan, keys, costs);
  if (!plan.rules.some(({ limit }) => hasReport(limit))) return charged;
  return mapAwaitable(charged, (decision) => {
    wakeWaiters(store, () => namesOf(store, plan, keys));
    return decision;
  });
}

/** Drops the state of keys, and wakes the callers that wait for the quota that is free now. */
export async function resetKeys(store: Store, plan: Plan, key: unknown): Promise<void> {
  const keys = resolveKeys(plan, key);
  await store.reset(plan, keys);
  wakeWaiters(store, () => namesOf(store, plan, keys));
}
