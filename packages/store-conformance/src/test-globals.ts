interface TestFunction {
  (name: string, body: () => Promise<void>, timeoutMs: number): unknown;
  skip(name: string, body: () => Promise<void>): unknown;
}

/** The globals of Jest, and of Vitest with `globals: true`. */
export interface TestGlobals {
  describe(name: string, body: () => void): unknown;
  test: TestFunction;
}

/**
 * Returns the globals of the test runner.
 *
 * @throws TypeError if they do not exist.
 */
export function testGlobals(): TestGlobals {
  const { describe, test } = globalThis as unknown as Partial<TestGlobals>;
  if (typeof describe === 'function' && typeof test === 'function') return { describe, test };
  throw new TypeError(
    'Expected the global functions `describe` and `test`, as in Jest, or in Vitest with `globals: true`. For other test runners, use `checks`',
  );
}
