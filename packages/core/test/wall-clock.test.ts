import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/** An upper bound on the time since a moment that the test noted. */
const UPPER_BOUND = /expect\((?:performance|Date)\.now\(\) - \w+\)\.toBeLessThan/;

const tests = ['packages', 'examples'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

test('no test asserts that wall-clock time is short, which a busy machine would break', () => {
  expect(tests.length).toBeGreaterThan(50);
  expect(tests.filter((file) => UPPER_BOUND.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});
