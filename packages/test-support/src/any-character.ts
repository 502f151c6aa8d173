import fc from 'fast-check';

/** Between the two halves of the code points there are 2,048 surrogates, which are not characters. */
const [FIRST_SURROGATE, SURROGATES] = [0xd800, 0x800];
const LAST_CODE_POINT = 0x10ffff;

/**
 * Any character, for `fc.string({ unit: anyCharacter })`, which then creates the same strings as with `unit: 'binary'`. For
 * that one, fast-check builds a table of all 1.1 million characters, which takes a second of CPU in each test file.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: LAST_CODE_POINT - SURROGATES })
  .map(toCharacter, toNumber);

function toCharacter(number: number): string {
  return String.fromCodePoint(number < FIRST_SURROGATE ? number : number + SURROGATES);
}

/** With the way back, fast-check can also insert names such as `__proto__`. */
function toNumber(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
  const number = code === undefined || code < FIRST_SURROGATE ? code : code - SURROGATES;
  if (number === undefined || toCharacter(number) !== value) throw new Error('Expected one character');
  return number;
}
