import type { Decision } from '../decision/decision.js';
import { degrade, resultWithoutState, toDecision } from '../decision/to-decision.js';
import type { MemoryStore } from '../memory/memory-store.js';
import type { StoredCall } from '../plan/constant-limits.js';
import type { Plan } from '../plan/plan.js';
import { decideConstants } from '../store/decide-constants.js';
import type { OnStoreError } from '../store/store-types.js';
import type { StoreError } from './store-error.js';

/** The wait of a rejection by the policy `'deny'`, in milliseconds. */
const DENY_RETRY_MS = 1000;

/** A call of a store that returns a decision. */
export interface DecidingCall extends StoredCall {
  readonly operation: 'check' | 'peek' | 'charge';
}

/** A receipt of the fallback memory. A store's own receipt never has this class. */
export class FallbackReceipt {
  constructor(
    /** The receipt of the store in memory. */
    readonly receipt: unknown,
  ) {}
}

/**
 * Decides without the store, by the policy.
 *
 * @throws StoreError if the policy is `'throw'`, or if it decides without recording and the call closes keys. No caller may believe that
 * of a key that stays open.
 */
export function decideByPolicy(
  policy: OnStoreError,
  error: StoreError,
  memory: () => MemoryStore,
  { operation, plan, keys, costs }: DecidingCall,
): Decision {
  if (
    policy === 'throw' ||
    (policy !== 'fallback' && operation === 'charge' && plan.rules.every(({ limit }) => limit.testsOnly === false))
  )
    throw error;
  if (policy !== 'fallback') return decideUniformly(policy, plan);
  const used = plan.fallback ?? plan;
  const store = used.hasConstants ? decideConstants(memory()) : memory();
  return degrade(
    store[operation]!(used, keys, costs) as Decision,
    'fallback',
    (receipt) => new FallbackReceipt(receipt),
  );
}

/** Decides the same for all keys: as if all of the quota were free, or none of it. A limit that never rejects still does not. */
function decideUniformly(policy: 'allow' | 'deny', plan: Plan): Decision {
  const results = plan.rules.map(({ limit }) => {
    const allowed = policy === 'allow' || limit.enforced === false;
    return resultWithoutState(limit, allowed, allowed ? 0 : DENY_RETRY_MS);
  });
  return degrade(toDecision(plan.rules, results, undefined), policy);
}
