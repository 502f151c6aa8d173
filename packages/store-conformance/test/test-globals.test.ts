import { testGlobals } from '../src/test-globals.js';

test('a test runner without global functions gets an error that names `checks`', () => {
  const globals = globalThis as { describe?: unknown };
  const { describe } = globals;
  globals.describe = undefined;
  try {
    expect(testGlobals).toThrow(/^Expected the global functions `describe` and `test`.* use `checks`$/);
  } finally {
    globals.describe = describe;
  }
  expect(testGlobals()).toEqual({ describe, test });
});
