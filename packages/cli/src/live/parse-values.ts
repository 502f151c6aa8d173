import { isKeyHash, MAX_KEY_LENGTH } from '@rollgate/core/store';
import { UsageError } from '../errors.js';
import { usage } from '../usage.js';

export function parseCount(option: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
    throw usage(option, 'a number from 1 to 999999', text);
  };
}

/**
 * Parses a key of a client.
 *
 * @throws UsageError for the hash that stands for a long key in a list. As a key, it would be another one, which has no state.
 */
export function parseKey(text: string): string {
  if (!isKeyHash(text)) return text;
  throw new UsageError(
    `Expected a key as your app passes it, got ${text}, the hash of a key with more than ${MAX_KEY_LENGTH} characters. Pass the key itself, which no store contains`,
  );
}

/** Like {@link parseKey}, for several keys. */
export function parseKeys(text: string, before: readonly string[] = []): string[] {
  return [...before, parseKey(text)];
}
