import { hashKey, MAX_KEY_LENGTH } from '@rollgate/core/store';

const PLAIN = /^[ !"#$&-z|~]+$/;
const ODD = /[{}%\p{Cc}\p{Cs}]/gu;

/**
 * The text as a part of a Redis key, different for different texts: braces, which say where a key lives on a Cluster,
 * and whatever would not come through as UTF-8 or would upset a terminal, as `%` and its code. Always some text, for an
 * empty pair of braces says nothing. Long text is hashed, because it would be sent, and kept, with every action.
 */
export function keyPart(text: string): string {
  if (text.length > MAX_KEY_LENGTH) return hashKey(text);
  if (PLAIN.test(text)) return text;
  if (text === '') return '%';
  return text.replace(ODD, (odd) => `%${odd.charCodeAt(0) < 256 ? hex(odd, 2) : `u${hex(odd, 4)}`}`);
}

function hex(odd: string, length: number): string {
  return odd.charCodeAt(0).toString(16).toUpperCase().padStart(length, '0');
}
