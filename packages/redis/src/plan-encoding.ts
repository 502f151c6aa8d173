import { type CounterAlgorithm, type Keys, keyAt, type Plan, withCode } from '@rollgate/core/store';
import { type Parts, partOf, ruleOf, suffixOf } from './algorithm-registry.js';
import { keyPart } from './redis-keys.js';

/** A plan as the scripts read it, and the Redis keys of its rules. */
export interface EncodedPlan {
  readonly plan: Plan;
  /** The inside of a list in JSON. Equal for plans whose rules are equal. */
  readonly text: string;
  /** What of the script it needs. */
  readonly parts: Parts;
  /** Whether an attempt that was refused may be recorded. */
  readonly countsRejected: boolean;
  /**
   * The Redis keys of the rules, in their order.
   *
   * @throws TypeError when `clusterSlot` is `'key'` and the keys differ.
   */
  keysOf(keys: Keys): string[];
}

/** On a Cluster, the text that decides in which slot the keys of a check live: their own key, or the limiter's prefix. */
export type ClusterSlot = 'key' | 'prefix';

export const CLUSTER_SLOTS: readonly ClusterSlot[] = ['key', 'prefix'];

/**
 * Encodes a plan. `clusterSlot` is `undefined` where there is no Cluster.
 *
 * Which Redis keys a check uses follows from the plan, the option and the keys alone. So no check changes what a later one
 * may do, and one key for all rules is the same as a record in which all keys are equal.
 *
 * @throws TypeError when there is no script for one of the limits.
 */
export function encodePlan(plan: Plan, clusterSlot: ClusterSlot | undefined): EncodedPlan {
  const { rules } = plan;
  const text = JSON.stringify([rules.length, ...rules.flatMap(({ limit }) => ruleOf(limit))]).slice(1, -1);
  const prefix = keyPart(plan.prefix);
  // Neither a name nor a suffix contains a colon, so the last one of a key ends the caller's part.
  const ends = rules.map(({ name, limit }) => name + suffixOf(limit));
  const [before, after] = clusterSlot === 'prefix' ? [`{${prefix}}:`, ':'] : [`${prefix}:{`, '}:'];

  function keysOf(keys: Keys): string[] {
    if (clusterSlot === 'key' && typeof keys !== 'string') refuseDifferent(keys);
    if (ends.length === 1) return [before + keyPart(keyAt(keys, 0)) + after + ends[0]];
    return ends.map((end, index) => before + keyPart(keyAt(keys, index)) + after + end);
  }

  return {
    plan,
    text,
    parts: rules.reduce((parts, { limit }) => parts | partOf(limit), 0),
    countsRejected: rules.some(({ limit }) => limit.countRejected),
    keysOf,
  };
}

function refuseDifferent(keys: readonly string[]): void {
  if (keys.every((key) => key === keys[0])) return;
  throw withCode(
    'ERR_ROLLGATE_INVALID_KEY',
    new TypeError(
      "Expected the same key for all limits of a check, got different ones: on a Cluster they live in different slots. Set `clusterSlot: 'prefix'` of the RedisStore to keep all keys of a limiter in one slot",
    ),
  );
}

/** The Redis key of a subject of a rolling counter: no limit's name begins like that. */
export function counterKey(counter: CounterAlgorithm, subject: string): string {
  return `${keyPart(counter.prefix)}:{${keyPart(subject)}}:#count`;
}
