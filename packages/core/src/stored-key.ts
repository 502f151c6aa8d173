import { createHash } from 'node:crypto';
import type { Keys } from './plan.js';

/**
 * UTF-16 code units. A longer key is kept by its hash, so that a client that chooses its key does not choose how much memory it
 * takes.
 */
export const MAX_KEY_LENGTH = 200;

const HASH_PREFIX = '%#';
/** Of the mark and 256 bits in base64url. */
const HASH_LENGTH = 45;

/** `%#` and the SHA-256 of the text as UTF-16, in which all texts differ, in base64url. Of one length for every text. */
export function hashKey(text: string): string {
  return HASH_PREFIX + createHash('sha256').update(text, 'utf16le').digest('base64url');
}

/** What a store keeps instead of the key: the key itself, or the hash of a long one. Different keys stay different. */
export function toStoredKey(key: string): string {
  return isStoredAsIs(key) ? key : hashKey(key);
}

/** As {@link toStoredKey} for the keys of a check. */
export function toStoredKeys(keys: Keys): Keys {
  if (typeof keys === 'string') return toStoredKey(keys);
  return keys.every(isStoredAsIs) ? keys : keys.map(toStoredKey);
}

/** A key that looks like a hash is hashed as well: or it could be made to meet a long one. */
function isStoredAsIs(key: string): boolean {
  const { length } = key;
  return length <= MAX_KEY_LENGTH && (length !== HASH_LENGTH || !key.startsWith(HASH_PREFIX));
}
