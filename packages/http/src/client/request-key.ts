import type { Key, OneKey } from '@rollgate/core';

/** The key of a request, or one per limit name. `undefined` and `null` stand for the key by the client's address. */
export type RequestKey<Name extends string = string> =
  | OneKey
  | null
  | undefined
  | Readonly<Record<Name, OneKey | null | undefined>>;

/** What the key of an address begins with where `key` has returned none. */
const ADDRESS = 'address=';
/** A key that the app has returned, and that would look like one of an address. */
const LIKE_ADDRESS = /^(?:id=)*address=/;

/**
 * Returns the key that the limiter counts for. A key that the app has returned stays as it is, so that the app can reset it, and one
 * of an address gets a mark. So a client that chooses its ID never counts for an address.
 *
 * @param addressKey Returns the key by the client's address.
 */
export function markKey(key: RequestKey, addressKey: () => string): Key {
  if (typeof key === 'object' && key !== null) return markRecord(key, addressKey);
  return markOne(key, addressKey) as Key;
}

function markRecord(keys: Readonly<Record<string, unknown>>, addressKey: () => string): Key {
  const isPlain = Object.values(keys).every((key) => typeof key === 'string' && !LIKE_ADDRESS.test(key));
  if (isPlain) return keys as Key;
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, markOne(key, addressKey)])) as Key;
}

/** The limiter validates other values. */
function markOne(key: unknown, addressKey: () => string): unknown {
  if (key === undefined || key === null) return ADDRESS + addressKey();
  return typeof key === 'string' && LIKE_ADDRESS.test(key) ? `id=${key}` : key;
}
