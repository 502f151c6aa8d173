/** The least length of a substring that V8 does not copy. */
const SHORTEST_SLICE = 13;

/** The most characters that one call gets as arguments. */
const MOST_CHARACTERS = 1_000;

/**
 * Copies a string into its own memory. A substring, such as an address cut out of a header, otherwise keeps the whole
 * original string in memory. V8 always copies a substring of less than 13 characters.
 */
export function copyString(text: string): string {
  if (text.length < SHORTEST_SLICE) return text;
  let copy = '';
  for (let from = 0; from < text.length; from += MOST_CHARACTERS) {
    const end = Math.min(text.length, from + MOST_CHARACTERS);
    const units: number[] = [];
    for (let index = from; index < end; index++) units.push(text.charCodeAt(index));
    copy += String.fromCharCode(...units);
  }
  return copy;
}
