/** Only keys of more than 200 characters are hashed. The page has a single short one. */
export function createHash(): never {
  throw new Error('Expected keys of at most 200 characters');
}
