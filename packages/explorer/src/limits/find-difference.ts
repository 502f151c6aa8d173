import type { Decision } from '@rollgate/core';

/** A difference between a decision and what the oracles expect. */
export interface Difference {
  /** The first field that differs. */
  readonly field: string;
  readonly expected: Decision;
}

/** Compares a decision with what the oracles expect. */
export function findDifference(actual: Decision, expected: Decision): Difference | undefined {
  const field = findDifferentField({ ...actual, exceeded: actual.exceeded, limits: actual.limits }, expected, '');
  return field === undefined ? undefined : { field, expected };
}

/** Returns the path of the first field that differs, or `undefined` if all fields are equal. */
function findDifferentField(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return path;
  for (const name in expected) {
    const [one, other] = [actual, expected].map((record) => (record as Record<string, unknown>)[name]);
    const found = findDifferentField(one, other, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return Object.keys(actual).length === Object.keys(expected).length ? undefined : path;
}
