import type { Keys } from '../plan/plan.js';
import { hashUtf16 } from '../util/platform.js';

/**
 * The longest key that is stored as it is, in UTF-16 code units. Stores keep the hash of a longer key, so that a client
 * cannot use up memory with long keys.
 */
export const MAX_KEY_LENGTH = 200;

const HASH_PREFIX = '%#';
/** The prefix and 256 bits in base64url. */
const HASH_LENGTH = 45;

/**
 * Returns `%#` and the SHA-256 of the key in base64url. It hashes the UTF-16 code units, because different strings may
 * have the same UTF-8 bytes. The result always has the same length.
 */
export function hashKey(text: string): string {
  return HASH_PREFIX + hashUtf16(text);
}

/** Returns the key, or the hash of a long one. Different keys stay different. */
export function toStoredKey(key: string): string {
  return isStoredAsIs(key) ? key : hashKey(key);
}

/** Like {@link toStoredKey}, for the keys of a check. */
export function toStoredKeys(keys: Keys): Keys {
  if (typeof keys === 'string') return keys.length < HASH_LENGTH ? keys : toStoredKey(keys);
  return keys.every(isStoredAsIs) ? keys : keys.map(toStoredKey);
}

/**
 * Whether {@link toStoredKey} returns the key itself. A key that looks like a hash is hashed too. Otherwise a client could
 * choose a key that equals the hash of a long one.
 */
function isStoredAsIs(key: string): boolean {
  const { length } = key;
  return length <= MAX_KEY_LENGTH && (length !== HASH_LENGTH || !key.startsWith(HASH_PREFIX));
}

/** Whether a store keeps this text for a key that it has hashed. */
export function isKeyHash(stored: string): boolean {
  return stored.length === HASH_LENGTH && stored.startsWith(HASH_PREFIX);
}

/** The least length of a substring that V8 does not copy. */
const SHORTEST_SLICE = 13;

/**
 * Copies a string into its own memory. A substring, such as an address cut out of a header, otherwise keeps the whole
 * original string in memory. V8 always copies a substring of less than 13 characters, and every joined text that it compares.
 */
export function copyString(text: string): string {
  if (text.length < SHORTEST_SLICE) return text;
  const joined = text.slice(0, 1) + text.slice(1);
  return joined === text ? joined : text; // Always the former. A comparison without use would not take place.
}
