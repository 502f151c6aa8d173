/** The least length of a substring that V8 does not copy. */
const SHORTEST_SLICE = 13;

/**
 * Copies a string into its own memory. A substring, such as an address cut out of a header, otherwise keeps the whole
 * original string in memory. V8 always copies a substring of less than 13 characters.
 */
export function copyString(text: string): string {
  if (text.length < SHORTEST_SLICE) return text;
  const encoding = /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf16le'; // Both keep any string exactly, even lone surrogates.
  return Buffer.from(text, encoding).toString(encoding);
}
