import type { Decision, LimitDecision } from '../decision/decision.js';
import type { Key } from '../plan/keys-and-limits.js';
import type { Cost } from '../plan/resolve-costs.js';
import { type Awaitable, mapAwaitable } from '../util/awaitable.js';
import { decisions, rejections } from './channels.js';
import { identify, type LimiterEvent, type LimiterIdentity, violatedLimits } from './limiter-event.js';

/** A check and its decision. */
export interface DecisionEventOf<Limiter> extends LimiterEvent<Limiter> {
  readonly key: Key;
  /** The cost of the check, in units, as the caller passed it. 1 without one. */
  readonly cost: Cost;
  readonly decision: Decision;
  /** The results of the limits that rejected the check, by name. Empty if it was allowed. */
  readonly violatedLimits: Readonly<Record<string, LimitDecision>>;
}

/** Whether there is a subscriber. Without one, the limiter does not build an event. */
export const hasSubscribers = (): boolean => decisions.hasSubscribers || rejections.hasSubscribers;

/** Publishes the decision before the caller of the check gets it. Returns it, or a promise of it. */
export function publishDecision<Limiter extends LimiterIdentity, Made extends Awaitable<Decision>>(
  limiter: Limiter,
  key: Key,
  cost: Cost | undefined,
  decision: Made,
): Made {
  const publish = (made: Decision): Decision => {
    if (made.allowed && !decisions.hasSubscribers) return made;
    const event: DecisionEventOf<Limiter> = {
      ...identify(limiter),
      key,
      cost: cost ?? 1,
      decision: made,
      violatedLimits: violatedLimits(made),
    };
    decisions.publish(event);
    if (!made.allowed) rejections.publish(event);
    return made;
  };
  return mapAwaitable<Decision, Decision>(decision, publish) as Made;
}
