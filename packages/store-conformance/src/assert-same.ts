import assert from 'node:assert/strict';

/** Throws unless both values are deeply equal. The error message starts with `about()`. */
export function assertSame(actual: unknown, expected: unknown, about: () => string): void {
  if (isSamePlain(actual, expected)) return;
  try {
    assert.deepEqual(actual, expected);
  } catch (error) {
    throw new Error(`${about()}\n${(error as Error).message}`);
  }
}

/**
 * Whether both are the same plain value. With `false`, `assert.deepEqual` must decide. This check is several times as
 * fast and enough for most comparisons.
 */
function isSamePlain(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (!Array.isArray(one) && Object.getPrototypeOf(one) !== Object.prototype) return false;
  const names = Object.keys(one) as (keyof typeof one)[];
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isSamePlain(one[name], other[name]));
}
