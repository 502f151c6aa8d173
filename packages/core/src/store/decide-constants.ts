import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Decision, LimitDecision } from '../decision/decision.js';
import { takeReceipt } from '../decision/take-receipt.js';
import { degrade, toDecision } from '../decision/to-decision.js';
import { holdsSlots, isConstant } from '../limits/capabilities.js';
import type { Limit } from '../limits/limit.js';
import { isRejectedByConstant, toRejectedCall, toStoredCall } from '../plan/constant-limits.js';
import { type Costs, costAt, type Plan } from '../plan/plan.js';
import type { StoreWait, StoreWaiting } from './capabilities.js';
import { backendOf, namesOf } from './quota-waiters.js';
import type { Store } from './store.js';

/** The store of a limiter with such limits. */
export interface WrappingStore {
  /** The store that decides by the other limits. */
  readonly wrapped: Store;
}

/**
 * Wraps a store for plans with limits of 0 and `Infinity`. They decide here, and the store decides by the other rules. Everything else
 * goes to the store.
 */
export function decideConstants(store: Store): Store {
  const { charge, settle, release, renew, waiting } = store;
  const wrapper: Omit<Store, 'guard' | 'partOf' | 'connectionTo'> & WrappingStore = {
    wrapped: store,
    backend: backendOf(store),
    clock: store.clock,
    waiting: waiting && decideConstantsOfWaits(waiting),
    check(plan, keys, costs) {
      const isRejected = isRejectedByConstant(plan, costs);
      const call = isRejected ? toRejectedCall(plan, keys, costs) : toStoredCall(plan, keys, costs);
      return complete(plan, costs, call && store.check(call.plan, call.keys, call.costs));
    },
    peek(plan, keys, costs) {
      const call = toStoredCall(plan, keys, costs);
      return complete(plan, costs, call && store.peek(call.plan, call.keys, call.costs));
    },
    ...(charge && {
      charge(plan, keys, costs) {
        const call = toStoredCall(plan, keys, costs);
        // The decision of a charge is that of a peek with cost 1.
        return complete(plan, 1, call && charge.call(store, call.plan, call.keys, call.costs));
      },
    }),
    reset: (plan, keys) => {
      const call = toStoredCall(plan, keys, 1);
      return call && store.reset(call.plan, call.keys);
    },
    refund: (receipt) => store.refund(receipt),
    ...(settle && { settle: (receipt, costs) => settle.call(store, receipt, costs) }),
    ...(release && { release: (receipt) => release.call(store, receipt) }),
    ...(renew && { renew: (receipts) => renew.call(store, receipts) }),
    partOfReceipt: (receipt) => store.partOfReceipt?.(receipt) ?? '',
    namesOf: (plan, keys) => namesOf(store, plan, keys),
    namesOfReceipt: (receipt) => store.namesOfReceipt?.(receipt) ?? [],
    close: () => store.close?.(),
  };
  return wrapper as Store;
}

function decideConstantsOfWaits(waiting: StoreWaiting): StoreWaiting {
  /** A call keeps its place in the queues by its object. */
  const storedCalls = new WeakMap<StoreWait, StoreWait>();
  return {
    async wait(call) {
      const { plan, keys, costs } = call;
      const stored = isRejectedByConstant(plan, costs) ? undefined : toStoredCall(plan, keys, costs);
      if (stored === undefined) return undefined; // A check decides at once.
      const known = storedCalls.get(call) ?? { ...call, ...stored };
      storedCalls.set(call, known);
      const grant = await waiting.wait(known);
      return grant && { ...grant, decision: await complete(plan, costs, grant.decision) };
    },
  };
}

/**
 * Returns the decision of all rules of a plan.
 *
 * @param made The decision of those that need a store, if there are any.
 */
function complete(plan: Plan, costs: Costs, made: Awaitable<Decision> | undefined): Awaitable<Decision> {
  if (!plan.hasConstants && made !== undefined) return made;
  const { rules } = plan;
  const join = (stored: Decision | undefined) => {
    const results = rules.map(({ name, limit }, index) =>
      isConstant(limit) ? constantResult(limit, costAt(costs, index)) : stored!.limits[name]!,
    );
    const decision = toDecision(rules, results, stored && takeReceipt(stored), costs);
    return stored?.degraded ? degrade(decision, stored.degraded, (receipt) => receipt) : decision;
  };
  return made === undefined ? join(undefined) : mapAwaitable(made, join);
}

function constantResult(limit: Limit, cost: number): LimitDecision {
  const isOpen = limit.limit === Infinity;
  const allowed = isOpen || cost === 0;
  const freeMs = isOpen ? 0 : Infinity;
  return {
    allowed,
    limit: limit.limit,
    remaining: limit.limit,
    retryAfterMs: allowed ? 0 : Infinity,
    resetMs: freeMs,
    nextUnitMs: holdsSlots(limit) ? undefined : freeMs,
    delayMs: 0,
    ...(!allowed && { reason: 'limit' }),
  };
}
