import { mapAwaitable } from '../base/awaitable.js';
import { costAt, joinCosts } from '../plan/plan.js';
import { namesOf, unitsAhead } from '../store/quota-waiters.js';
import type * as node from './check-at-tail.js';

// The counterpart of `check-at-tail.ts` in the build for bundles, which must be small. It decides alike. Behind more units than a
// limit has, the wait of a rejection is too short.

/** Like that of Node. */
export const checkAtTail: typeof node.checkAtTail = (queues, store, plan, keys, costs) => {
  const names = namesOf(store, plan, keys);
  let isBehind = false;
  const units = plan.rules.map(({ limit: { limit } }, index) => {
    const cost = costAt(costs, index);
    const ahead = cost > 0 ? unitsAhead(queues, names[index]!) : [];
    isBehind ||= ahead.length > 0;
    return Math.min(
      ahead.reduce((sum, some) => sum + some, cost),
      Math.max(cost, limit),
    );
  });
  if (!isBehind) return store.check(plan, keys, costs);
  return mapAwaitable(store.peek(plan, keys, joinCosts(units)), (peeked) =>
    peeked.allowed ? store.check(plan, keys, costs) : Object.assign(peeked, { retryIsEstimate: true }),
  );
};
