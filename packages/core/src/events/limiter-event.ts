import type { Decision, LimitDecision } from '../decision/decision.js';
import type { Key } from '../plan/keys-and-limits.js';

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
