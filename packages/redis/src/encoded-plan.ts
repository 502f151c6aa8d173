import { type Keys, keyAt, type Plan } from '@rollgate/core';
import { ruleOf } from './algorithms.js';
import { keyPart } from './keys.js';

/** A plan as the scripts read it, and the Redis keys of its rules. */
export interface EncodedPlan {
  readonly plan: Plan;
  /** The inside of a list in JSON. Equal for plans whose rules are equal. */
  readonly text: string;
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
  const prefix = keyPart(plan.prefix);
  const start = `${prefix}:{`;
  const ends = rules.map(({ name }) => `}:${name}`);

  let isOneKey: boolean | undefined;

  function keysOf(keys: Keys): string[] {
    if (ends.length === 1) return [start + keyPart(keyAt(keys, 0)) + ends[0]];
    // Different keys can be decided together on a Cluster only where all keys of the limiter live in one place: there the
    // prefix is what is in braces.
    if (isCluster && typeof keys !== 'string') {
      return rules.map(({ name }, index) => `{${prefix}}:${keyPart(keyAt(keys, index))}:${name}`);
    }
    return ends.map((end, index) => start + keyPart(keyAt(keys, index)) + end);
  }

  function keysToRecordIn(keys: Keys): string[] {
    if (isCluster && ends.length > 1) {
      isOneKey ??= typeof keys === 'string';
      if (isOneKey !== (typeof keys === 'string')) {
        throw new TypeError(
          'On a Cluster a limiter of several limits takes either one key for all or a key for each, always the same: the two live in different places, and would count apart',
        );
      }
    }
    return keysOf(keys);
  }

  return {
    plan,
    text: JSON.stringify([rules.length, ...rules.flatMap(({ limit }) => ruleOf(limit))]).slice(1, -1),
    countsRejected: rules.some(({ limit }) => limit.countRejected),
    keysOf,
    keysToRecordIn,
  };
}
