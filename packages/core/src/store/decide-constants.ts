import type { Decision, LimitDecision } from '../decision/decision.js';
import { DecisionWithReceipt, RuleResults } from '../decision/decision-with-receipt.js';
import { readReceipt } from '../decision/receipt.js';
import { degrade, resultWithoutState, toDecision } from '../decision/to-decision.js';
import { isConstant, type Limit } from '../limits/limit.js';
import { isRejectedByConstant, type StoredCall, toStoredCall } from '../plan/constant-limits.js';
import { type Costs, costAt, type Plan, type Rule } from '../plan/plan.js';
import { monotonicClock, readMicros } from '../time/clock.js';
import { type Awaitable, isThenable, mapAwaitable } from '../util/awaitable.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { withMembers } from '../util/with-members.js';
import type { Coded } from '../validation/error-codes.js';
import { backendOf } from './quota-waiters.js';
import type { Store, StoreGrant, StoreWait, StoreWaiting } from './store.js';

/** The store of a limiter with such limits. */
export interface WrappingStore {
  /** The store that decides by the other limits. */
  readonly wrapped: Store;
}

/**
 * Wraps a store for plans with limits of 0 and `Infinity`. They decide here, and the store decides by the other rules. Everything else
 * goes to the store. A wrapped store stays as it is.
 */
export function decideConstants(store: Store): Store {
  if ((store as Partial<WrappingStore>).wrapped) return store;
  type Operation = 'check' | 'peek' | 'charge';
  const ask = (operation: Operation, call: StoredCall | undefined) =>
    call && (store[operation]!(call.plan, call.keys, call.costs) as Awaitable<Decision>);
  return withMembers(store as Store & WrappingStore, {
    wrapped: store,
    backend: backendOf(store),
    check(plan, keys, costs) {
      const isRejected = isRejectedByConstant(plan, costs);
      const check = () => ask('check', toStoredCall(plan, keys, costs, isRejected));
      return complete(store, plan, costs, isRejected ? unlessStoreFails(check) : check());
    },
    peek: (plan, keys, costs) => complete(store, plan, costs, ask('peek', toStoredCall(plan, keys, costs))),
    // The decision of a charge is that of a peek with cost 1.
    charge:
      store.charge && ((plan, keys, costs) => complete(store, plan, 1, ask('charge', toStoredCall(plan, keys, costs)))),
    reset(plan, keys) {
      const call = toStoredCall(plan, keys, 1);
      return call && store.reset(call.plan, call.keys);
    },
  });
}

/** Keeps such limits from the queues of a store. Their wait ends at once, or in the queues by the other rules. */
export function queueWithoutConstants(store: Store, waiting: StoreWaiting): StoreWaiting {
  /** A call keeps its place in the queues by its object. */
  const storedCalls = new WeakMap<StoreWait, StoreWait>();
  const waitByOthers = async (call: StoreWait): Promise<StoreGrant | undefined> => {
    const { plan, keys, costs } = call;
    const stored = isRejectedByConstant(plan, costs) ? undefined : toStoredCall(plan, keys, costs);
    if (stored === undefined) return undefined; // A check decides at once.
    const grant = await waiting.wait(getOrInsert(storedCalls, call, () => ({ ...call, ...stored })));
    return grant && { ...grant, decision: await complete(store, plan, costs, grant.decision) };
  };
  return { wait: (call) => (call.plan.hasConstants ? waitByOthers(call) : waiting.wait(call)) };
}

/** Returns the decision, or `undefined` if the store fails, because no store can change that a limit of 0 rejects. */
function unlessStoreFails(check: () => Awaitable<Decision> | undefined): Awaitable<Decision | undefined> {
  const onError = (error: unknown): undefined => {
    if ((error as Partial<Coded> | undefined)?.code !== 'ERR_ROLLGATE_STORE_FAILED') throw error;
  };
  try {
    const made = check();
    return isThenable(made) ? made.then(undefined, onError) : made;
  } catch (error) {
    return onError(error);
  }
}

/**
 * Returns the decision of all rules of a plan.
 *
 * @param made The decision of those that need a store, unless there are none or they were not asked.
 */
function complete(
  { clock = monotonicClock }: Store,
  plan: Plan,
  costs: Costs,
  made: Awaitable<Decision | undefined>,
): Awaitable<Decision> {
  if (!plan.hasConstants) return made as Awaitable<Decision>;
  return mapAwaitable(made, (stored) => join(plan.rules, costs, stored, readMicros(clock)));
}

function join(rules: readonly Rule[], costs: Costs, stored: Decision | undefined, nowMicros: number): Decision {
  // Most callers read no result.
  const joinResults = () =>
    rules.map(
      ({ name, limit }, index) =>
        (isConstant(limit) ? undefined : stored?.limits[name]) ??
        resultWithoutStore(limit, costAt(costs, index), nowMicros),
    );
  const receipt = stored && readReceipt(stored);
  // Next to limits of `Infinity` only, the figures are those of the others, whatever the cost is.
  if (stored !== undefined && typeof costs === 'number' && rules.every(({ limit }) => limit.limit !== 0)) {
    const { violated, degraded } = stored;
    return new DecisionWithReceipt(new RuleResults(rules, joinResults), stored, violated, receipt, degraded);
  }
  const decision = toDecision(rules, joinResults(), receipt, costs);
  return stored?.degraded ? degrade(decision, stored.degraded, (taken) => taken) : decision;
}

/** The result of a limit without a store: of a constant one, or of one that is not asked because another one rejects. */
function resultWithoutStore(limit: Limit, cost: number, nowMicros: number): LimitDecision {
  const isZero = limit.limit === 0;
  const allowed = !isZero || cost === 0;
  const unused = { resetMs: 0, spent: 0, reserved: 0 };
  limit.addPeriod?.(unused, nowMicros);
  return {
    ...(limit.addPeriod && unused),
    ...resultWithoutState(limit, allowed, isZero ? Infinity : 0),
    ...(!allowed && { reason: 'limit' }),
    ...(!isConstant(limit) && { remainingIsEstimate: true }),
  };
}
