import { type Decision, degrade, type LimitDecision, toDecision } from '../decision.js';
import type { MemoryStore } from '../memory-store.js';
import type { Keys, Plan } from '../plan.js';
import type { StoreError } from './store-error.js';

/** What answers in the place of a store that has failed. */
export type OnStoreError = 'fallback' | 'allow' | 'deny' | 'throw';

export const ON_STORE_ERROR: readonly OnStoreError[] = ['fallback', 'allow', 'deny', 'throw'];

/** When those who are refused only because the store has failed may come again. */
const DENY_RETRY_MS = 1000;

/** A receipt of the memory that stood in; a store's own receipt is never one. */
export class FallbackReceipt {
  constructor(readonly receipt: unknown) {}
}

/**
 * The decision of a policy.
 *
 * @throws StoreError when the policy is `'throw'`.
 */
export function decideByPolicy(
  policy: OnStoreError,
  error: StoreError,
  memory: () => MemoryStore,
  operation: 'check' | 'peek',
  plan: Plan,
  keys: Keys,
  cost: number,
): Decision {
  if (policy === 'throw') throw error;
  if (policy !== 'fallback') return decideUniformly(policy, plan);
  return degrade(memory()[operation](plan, keys, cost), 'fallback', (receipt) => new FallbackReceipt(receipt));
}

/** The same for everybody, knowing nothing: as if nothing had been used, or everything. */
function decideUniformly(policy: 'allow' | 'deny', plan: Plan): Decision {
  const allowed = policy === 'allow';
  const waitMs = allowed ? 0 : DENY_RETRY_MS;
  const said = plan.rules.map(
    ({ limit: { limit } }): LimitDecision => ({
      allowed,
      limit,
      remaining: allowed ? limit : 0,
      retryAfterMs: waitMs,
      resetMs: waitMs,
      delayMs: 0,
    }),
  );
  return degrade(toDecision(plan.rules, said, undefined), policy);
}
