import { createHash } from 'node:crypto';

/** Longer text is hashed: a key of a megabyte would be sent, and kept, with every action. */
const LONGEST = 200;

const PLAIN = /^[ !"#$&-z|~]{1,200}$/;
const ODD = /[{}%\p{Cc}\p{Cs}]/gu;

/**
 * The text as a part of a Redis key, different for different texts: braces, which say where a key lives on a Cluster,
 * and whatever would not come through as UTF-8 or would upset a terminal, as `%` and its code. Always some text, for an
 * empty pair of braces says nothing.
 */
export function keyPart(text: string): string {
  if (PLAIN.test(text)) return text;
  if (text === '') return '%';
  // As UTF-16: in UTF-8 all lone surrogates are the same.
  if (text.length > LONGEST) return `%#${createHash('sha256').update(text, 'utf16le').digest('base64url')}`;
  return text.replace(ODD, (odd) => `%${odd.charCodeAt(0) < 256 ? hex(odd, 2) : `u${hex(odd, 4)}`}`);
}

function hex(odd: string, length: number): string {
  return odd.charCodeAt(0).toString(16).toUpperCase().padStart(length, '0');
}
