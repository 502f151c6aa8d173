/**
 * Copies a text. A text that was cut out of a longer one, such as an address out of a header, would keep the longer one in
 * memory.
 */
export function copyString(text: string): string {
  const encoding = /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf16le'; // Exact for any string, lone surrogates included.
  return Buffer.from(text, encoding).toString(encoding);
}
