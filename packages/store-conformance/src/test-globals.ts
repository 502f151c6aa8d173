interface TestFunction {
  (name: string, body: () => Promise<void>, timeoutMs: number): unknown;
  skip(name: string, body: () => Promise<void>): unknown;
}

/** What Jest has as globals, and Vitest with `globals: true`. */
export interface TestGlobals {
  describe(name: string, body: () => void): unknown;
  test: TestFunction;
}

/** @throws TypeError when this is not run by a tool that has them. */
export function testGlobals(): TestGlobals {
  const { describe, test } = globalThis as unknown as Partial<TestGlobals>;
  if (typeof describe === 'function' && typeof test === 'function') return { describe, test };
  throw new TypeError(
    'Expected the global functions `describe` and `test`, as in Jest, or in Vitest with `globals: true`; for other tools there is `checks`',
  );
}
