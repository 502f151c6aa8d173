import type { Decision, LimitDecision } from '../decision/decision.js';
import type { Key } from '../plan/keys-and-limits.js';
import type { Cost } from '../plan/plan.js';
import { type Awaitable, mapAwaitable } from '../util/awaitable.js';
import { channel, debugLog, subscribe } from '../util/platform.js';

/** What events know of the limiter that they are about. */
export interface LimiterIdentity {
  /** The option `name`, or by default the prefix. */
  readonly name: string;
  /** The option `prefix`, which separates the keys of limiters in a store. */
  readonly prefix: string;
  /** Whether the caller goes on after a rejection. */
  readonly dryRun: boolean;
}

/** The members of an event that name its limiter. */
export interface LimiterEvent<Limiter> extends LimiterIdentity {
  /** The limiter that made the decision. */
  readonly limiter: Limiter;
}

/** Returns the members of an event that name its limiter. */
export function identify<Limiter extends LimiterIdentity>(limiter: Limiter): LimiterEvent<Limiter> {
  const { name, prefix, dryRun } = limiter;
  return { limiter, name, prefix, dryRun };
}

/** Returns the result of each limit that rejected, by its name. */
export function violatedLimits({ violated, limits }: Decision): Readonly<Record<string, LimitDecision>> {
  return Object.fromEntries(violated.map((name) => [name, limits[name]!]));
}

/**
 * Returns a key as `JSON.stringify` takes it, with numbers as text. Equal keys have equal results, because a record has its names in
 * order.
 */
export function toTextKey(key: Key): string | Readonly<Record<string, string>> {
  if (typeof key !== 'object') return String(key);
  const names = Object.keys(key).sort();
  return Object.fromEntries(names.map((name) => [name, String(key[name])]));
}

/** Returns a key as text, for people. */
export function formatKey(key: Key): string {
  const text = toTextKey(key);
  return typeof text === 'string' ? text : JSON.stringify(text);
}

// The diagnostics channels of this package. `@rollgate/http` and `@rollgate/fetch` have the others.

export const decisions = channel('rollgate:decision');
export const rejections = channel('rollgate:rejection');
export const storeFailures = channel('rollgate:store:failure');
export const storeRecoveries = channel('rollgate:store:recovery');
export const refundFailures = channel('rollgate:refund:failure');
export const leaseLosses = channel('rollgate:lease:lost');

// Prints a line for each decision while the environment variable `NODE_DEBUG` names `rollgate`.
if (debugLog !== undefined) {
  const log = debugLog('rollgate');
  if (log.enabled)
    subscribe('rollgate:decision', (event) => log('%s', describeDecision(event as DecisionEventOf<object>)));
}

/** Such as `api ann: rejected by burst, retry in 250 ms (burst 0 of 5, day 120 of 1000)`. */
function describeDecision({ name, key, decision }: DecisionEventOf<object>): string {
  const { allowed, delayMs, degraded, retryAfterMs, violated, exceeded, limits } = decision;
  const outcome = allowed
    ? `allowed${delayMs > 0 ? ` after ${delayMs} ms` : ''}`
    : `rejected by ${violated.join(', ')}, retry in ${retryAfterMs} ms`;
  const figures = Object.entries(limits).map(
    ([limit, { remaining, limit: quota }]) => `${limit} ${remaining} of ${quota}`,
  );
  const excess = exceeded.length === 0 ? '' : `, above ${exceeded.join(', ')}`;
  const policy = degraded === false ? '' : `, while the store fails: ${degraded}`;
  return `${name} ${formatKey(key)}: ${outcome}${excess} (${figures.join(', ')}${policy})`;
}

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
