import {
  type CounterAlgorithm,
  hashKey,
  type Keys,
  keyAt,
  MAX_KEY_LENGTH,
  type Plan,
  withCode,
} from '@rollgate/core/store';
import { keySuffixOf } from './algorithm-registry.js';

/** What determines the slot of a check's keys on a Cluster: each key itself, or the limiter's prefix. */
export type ClusterSlot = 'key' | 'prefix';

export const CLUSTER_SLOTS: readonly ClusterSlot[] = ['key', 'prefix'];

/** Returns the Redis keys of a plan's rules, in order, for the keys of a check. */
export type KeyBuilder = (keys: Keys) => string[];

/**
 * Creates the key builder of a plan. `clusterSlot` is `undefined` without a Cluster.
 *
 * The Redis keys of a check depend only on the plan, the option and the check's keys. So no check affects the keys of later
 * ones. One key for all rules has the same Redis keys as a record of equal keys.
 *
 * The key builder of several rules throws a `TypeError` if `clusterSlot` is `'key'` and the keys differ.
 */
export function createKeyBuilder(plan: Plan, clusterSlot: ClusterSlot | undefined): KeyBuilder {
  const { before, ends } = keyPartsOf(plan, clusterSlot);
  if (ends.length === 1) return (keys) => [before + escapeKeyPart(keyAt(keys, 0)) + ends[0]];
  return (keys) => {
    if (clusterSlot === 'key' && typeof keys !== 'string') requireEqual(keys);
    return ends.map((end, index) => before + escapeKeyPart(keyAt(keys, index)) + end);
  };
}

/** What stands before and after the escaped key in the Redis keys of a plan's rules, in their order. */
export function keyPartsOf(
  { prefix, rules }: Plan,
  clusterSlot: ClusterSlot | undefined,
): { readonly before: string; readonly ends: readonly string[] } {
  const escapedPrefix = escapeKeyPart(prefix);
  // Neither a limit's name nor a suffix contains a colon, so the last colon of a Redis key ends the caller's key.
  const [before, after] = clusterSlot === 'prefix' ? [`{${escapedPrefix}}:`, ':'] : [`${escapedPrefix}:{`, '}:'];
  return { before, ends: rules.map(({ name, limit }) => after + name + keySuffixOf(limit)) };
}

function requireEqual(keys: readonly string[]): void {
  if (keys.every((key) => key === keys[0])) return;
  throw withCode(
    'ERR_ROLLGATE_INVALID_KEY',
    new TypeError(
      "Expected the same key for all limits of a check, got different ones, which belong to different slots of the Cluster. Set `clusterSlot: 'prefix'` of the RedisStore to keep all keys of a limiter in one slot",
    ),
  );
}

/** The Redis key of a rolling counter's subject. No limit's name starts with `#`. */
export function counterKey(counter: CounterAlgorithm, subject: string): string {
  return `${escapeKeyPart(counter.prefix)}:{${escapeKeyPart(subject)}}:#count`;
}

/** The key up to the end of its hash tag, the text in braces that determines its slot. */
export function hashTagOf(key: string): string {
  return key.slice(0, key.indexOf('}'));
}

/** Finds what may have to be escaped. A class of one range is tested in less time. */
const NOT_PLAIN = /[^&-z]/;
const SPECIAL = /[{}%\p{Cc}\p{Cs}]/gu;

/**
 * Escapes text as a part of a Redis key. Different texts have different results.
 *
 * Braces determine the slot of a key on a Cluster, so they become `%` and their code. So do control characters and lone
 * surrogates, which UTF-8 and terminals cannot represent. An empty text becomes `%`, because Redis ignores empty braces.
 * Long text is hashed, because Redis keeps the key and receives it with every operation.
 */
export function escapeKeyPart(text: string): string {
  if (text.length > MAX_KEY_LENGTH) return hashKey(text);
  if (text === '') return '%';
  if (!NOT_PLAIN.test(text)) return text;
  return text.replace(SPECIAL, (special) => {
    const code = special.charCodeAt(0);
    return code < 256 ? `%${hex(code, 2)}` : `%u${hex(code, 4)}`;
  });
}

function hex(code: number, length: number): string {
  return code.toString(16).toUpperCase().padStart(length, '0');
}
