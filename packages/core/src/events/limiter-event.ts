import type { Decision, LimitDecision } from '../decision/decision.js';

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
