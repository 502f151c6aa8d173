import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/publish-decision.js';
import type { WaitCall } from './wait-call.js';

/**
 * Keeps the slots of a decision that a waiting caller gets, and publishes it. A rejected attempt does not end the wait, so it is
 * not published.
 *
 * @param sentMs A time before that of the decision, by default the present. Leases count from it.
 */
export function acceptDecision(call: WaitCall, sent: Awaitable<Decision>, sentMs?: number): Awaitable<Decision> {
  const { limiter, slotKeeper, plan, keys, costs, key, cost } = call;
  const held = slotKeeper === undefined ? sent : slotKeeper.hold(plan, keys, costs, key, sent, sentMs);
  return mapAwaitable(held, (decision) =>
    decision.allowed && hasSubscribers() ? publishDecision(limiter, key, cost, decision) : decision,
  );
}
