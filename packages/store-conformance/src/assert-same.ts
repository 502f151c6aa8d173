import assert from 'node:assert/strict';

/** Deep equality. An error states what was compared as well as what differs. */
export function assertSame(actual: unknown, expected: unknown, about: () => string): void {
  if (isSamePlain(actual, expected)) return;
  try {
    assert.deepEqual(actual, expected);
  } catch (error) {
    throw new Error(`${about()}\n${(error as Error).message}`);
  }
}

/**
 * Whether both are the same plain value. `false` means only that a closer look is needed: this one is several times as
 * fast as `assert.deepEqual`, and most comparisons need no more.
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
