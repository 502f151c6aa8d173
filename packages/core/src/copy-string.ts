/**
 * Copies a string into its own memory. A substring, such as an address cut out of a header, otherwise keeps the whole
 * original string in memory.
 */
export function copyString(text: string): string {
  const encoding = /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf16le'; // Both keep any string exactly, even lone surrogates.
  return Buffer.from(text, encoding).toString(encoding);
}
