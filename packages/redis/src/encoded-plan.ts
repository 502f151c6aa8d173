import { type Counter, type Keys, keyAt, type Plan } from '@rollgate/core/store';
import { type Parts, partOf, ruleOf, suffixOf } from './algorithms.js';
import { keyPart } from './keys.js';

/** A plan as the scripts read it, and the Redis keys of its rules. */
export interface EncodedPlan {
  readonly plan: Plan;
  /** The inside of a list in JSON. Equal for plans whose rules are equal. */
  readonly text: string;
  /** What of the script it needs. */
  readonly parts: Parts;
  /** Whether an attempt that was refused may be recorded. */
  readonly countsRejected: boolean;
  /** The Redis keys of the rules, in their order. */
  keysOf(keys: Keys): string[];
  /**
   * As `keysOf`, for a check.
   *
   * @throws TypeError on a Cluster, when earlier checks took one key for all rules and this one takes one for each.
   */
  keysToRecordIn(keys: Keys): string[];
}

/** @throws TypeError when there is no script for one of the limits. */
export function encodePlan(plan: Plan, isCluster: boolean): EncodedPlan {
  const { rules } = plan;
  const text = JSON.stringify([rules.length, ...rules.flatMap(({ limit }) => ruleOf(limit))]).slice(1, -1);
  const prefix = keyPart(plan.prefix);
  const start = `${prefix}:{`;
  const names = rules.map(({ name, limit }) => name + suffixOf(limit));
  const ends = names.map((name) => `}:${name}`);

  let isOneKey: boolean | undefined;

  function keysOf(keys: Keys): string[] {
    // Different keys can be decided together on a Cluster only where all keys of the limiter live in one place: there the
    // prefix is what is in braces. Also for one limit: the next call may be told two.
    if (isCluster && typeof keys !== 'string') {
      return names.map((name, index) => `{${prefix}}:${keyPart(keyAt(keys, index))}:${name}`);
    }
    if (ends.length === 1) return [start + keyPart(keyAt(keys, 0)) + ends[0]];
    return ends.map((end, index) => start + keyPart(keyAt(keys, index)) + end);
  }

  function keysToRecordIn(keys: Keys): string[] {
    if (isCluster) {
      isOneKey ??= typeof keys === 'string';
      if (isOneKey !== (typeof keys === 'string')) {
        throw new TypeError(
          'On a Cluster a limiter takes either one key for all its limits or a key for each, always the same: the two live in different places, and would count apart',
        );
      }
    }
    return keysOf(keys);
  }

  return {
    plan,
    text,
    parts: rules.reduce((parts, { limit }) => parts | partOf(limit), 0),
    countsRejected: rules.some(({ limit }) => limit.countRejected),
    keysOf,
    keysToRecordIn,
  };
}

/** The Redis key of a subject of a rolling counter: no limit's name begins like that. */
export function counterKey(counter: Counter, subject: string): string {
  return `${keyPart(counter.prefix)}:{${keyPart(subject)}}:#count`;
}
