import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

/** The tests that `npm run related` would run for a file. */
function testsOf(file: string): string[] {
  const program = join(ROOT, 'scripts/related.mjs');
  const printed = execFileSync(process.execPath, [program, file, '--listTests'], { cwd: ROOT, encoding: 'utf8' });
  return printed.trim().split('\n');
}

test('of a source with planted defects, the tests that detect them are related', () => {
  const found = testsOf('packages/core/src/limits/token-bucket.ts');
  expect(found).toContain('packages/store-conformance/test/memory-store.test.ts');
  expect(found.length).toBeLessThan(20);
});

test('of a source that all others use, the tests of its users are related', () => {
  const found = testsOf('packages/core/src/validation/validate.ts');
  expect(found).toContain('packages/core/test/misuse.test.ts');
  expect(found.length).toBeLessThan(60);
});

test('of an adapter, its own tests and the shared wire suite are related', () => {
  expect(testsOf('packages/koa/src/rate-limit.ts').sort()).toEqual([
    'packages/host-tests/test/wire.test.ts',
    'packages/koa/test/rate-limit.test.ts',
  ]);
});

test('of a page, the tests that read it and those of all pages are related', () => {
  const found = testsOf('docs/errors.md');
  const expected = ['test/docs.test.ts', 'test/errors-page.test.ts', 'test/links.test.ts'];
  expect(found).toEqual(expect.arrayContaining(expected));
  expect(found.length).toBeLessThan(10);
});
