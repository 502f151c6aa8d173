import assert from 'node:assert/strict';

/** Deep equality that says what it was about as well as what differs. */
export function same(actual: unknown, expected: unknown, about: () => string): void {
  try {
    assert.deepEqual(actual, expected);
  } catch (error) {
    throw new Error(`${about()}\n${(error as Error).message}`);
  }
}
