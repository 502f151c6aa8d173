import { channel } from 'node:diagnostics_channel';
import type { Awaitable } from './awaitable.js';
import { isThenable } from './awaitable.js';
import type { Decision } from './decision.js';
import type { Key } from './plan.js';
import type { RateLimiter } from './rate-limiter.js';

/** Published on the channel `rollgate:decision` for every check, and for those that are rejected on `rollgate:rejection`. */
export interface DecisionEvent {
  readonly limiter: RateLimiter;
  readonly key: Key;
  /** The units that were asked for. */
  readonly cost: number;
  readonly decision: Decision;
}

const decisions = channel('rollgate:decision');
const rejections = channel('rollgate:rejection');

/** Whether anybody listens; else nothing is to be built. */
export const isAnybodyTold = (): boolean => decisions.hasSubscribers || rejections.hasSubscribers;

/** Publishes the decision when it is there, before who asked goes on. */
export function tell<Made extends Awaitable<Decision>>(
  limiter: RateLimiter,
  key: Key,
  cost: number,
  decision: Made,
): Made {
  const publish = (made: Decision): Decision => {
    if (made.allowed && !decisions.hasSubscribers) return made;
    const event: DecisionEvent = { limiter, key, cost, decision: made };
    decisions.publish(event);
    if (!made.allowed) rejections.publish(event);
    return made;
  };
  return (isThenable(decision) ? Promise.resolve(decision).then(publish) : publish(decision)) as Made;
}
