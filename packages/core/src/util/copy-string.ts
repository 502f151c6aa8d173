/** The least length of a substring that V8 does not copy. */
const SHORTEST_SLICE = 13;

/**
 * Copies a string into its own memory. A substring, such as an address cut out of a header, otherwise keeps the whole
 * original string in memory. V8 always copies a substring of less than 13 characters, and every text that it joins.
 */
export function copyString(text: string): string {
  return text.length < SHORTEST_SLICE ? text : [text.slice(0, 1), text.slice(1)].join('');
}
