import { join } from 'node:path';
import { compile } from '@rollgate/test-support/compile';

// The type check of all tests compiles the program with `strict`. Next.js creates a configuration without it.
test('a program for rejected requests compiles without `strict`', async () => {
  expect(await compile(join(__dirname, 'fixtures/proxy.ts'), '--strict', 'false')).toBe('');
});
