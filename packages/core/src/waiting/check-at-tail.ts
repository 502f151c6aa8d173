import type { Decision, LimitDecision } from '../decision/decision.js';
import { toDecision } from '../decision/to-decision.js';
import type { Limit } from '../limits/limit.js';
import { type Costs, costAt, joinCosts, type Keys, type Plan } from '../plan/plan.js';
import { namesOf, type QuotaQueues, unitsAhead } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { type Awaitable, mapAwaitable } from '../util/awaitable.js';

/**
 * Checks for a caller that does not wait, behind those that wait for its states. It is rejected unless the units of all of them
 * are free, and then leaves no trace. Its wait is the one that it would have in the queues.
 */
export function checkAtTail(
  queues: QuotaQueues,
  store: Store,
  plan: Plan,
  keys: Keys,
  costs: Costs,
): Awaitable<Decision> {
  const { rules } = plan;
  const names = namesOf(store, plan, keys);
  if (!names.some((name) => queues.has(name))) return store.check(plan, keys, costs);
  const ahead = rules.map(({ limit }, index) => {
    const cost = costAt(costs, index);
    return cost > 0 && cost <= limit.limit ? unitsAhead(queues, names[index]!) : [];
  });
  if (ahead.every(({ length }) => length === 0)) return store.check(plan, keys, costs);
  const turns = rules.map(({ limit }, index) => turnBehind(ahead[index]!, costAt(costs, index), limit));
  const units = turns.map((turn) => turn.units);
  return mapAwaitable(store.peek(plan, keys, joinCosts(units)), (peeked) => {
    if (peeked.degraded) return store.check(plan, keys, costs);
    const results = rules.map(({ name }, index) => waitLonger(peeked.limits[name]!, turns[index]!.moreMs));
    const isAllowed = results.every(({ allowed, enforced }) => allowed || enforced === false);
    return isAllowed ? store.check(plan, keys, costs) : toDecision(rules, results, undefined, costs);
  });
}

/**
 * Returns when a caller starts behind others: `moreMs` after so many units are free.
 *
 * The limit may be too small for all units ahead. Then the caller starts one window after the last caller that must have left the
 * window. That one starts behind others in the same way.
 */
function turnBehind(ahead: readonly number[], cost: number, { limit, windowMicros }: Limit) {
  let units = cost;
  const sums = ahead.map((some) => {
    units += some;
    return units - cost;
  });
  let moreMs = 0;
  for (let index = sums.length - 1; index >= 0 && units > limit; index--) {
    if (index > 0 && sums[index - 1]! >= units - limit) continue;
    units = sums[index]!;
    moreMs += windowMicros / 1000;
  }
  return { units: Math.min(units, limit), moreMs };
}

/** Returns the result of a rejection after a peek. It is an estimate, because callers ahead may stop waiting. */
function waitLonger({ spent, reserved, ...result }: LimitDecision, moreMs: number): LimitDecision {
  const retryAfterMs = result.retryAfterMs + moreMs;
  if (retryAfterMs === 0 || result.enforced === false) return result;
  const { reason = 'limit' } = result;
  return { ...result, allowed: false, remaining: 0, retryAfterMs, delayMs: 0, reason, retryIsEstimate: true };
}
