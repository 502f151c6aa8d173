import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const TSC = join(__dirname, '../../../node_modules/typescript/bin/tsc');
const OPTIONS = '--noEmit --skipLibCheck --target es2022 --module nodenext --types node --ignoreConfig';

// The type check of all tests compiles the program with `strict`. Next.js creates a configuration without it.
test('a program for rejected requests compiles without `strict`', async () => {
  const args = [TSC, ...OPTIONS.split(' '), '--strict', 'false', join(__dirname, 'fixtures/proxy.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => error);
  expect(stdout).toBe('');
});
