import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@rollgate/core';
import { checks } from '../packages/store-conformance/src/checks/index';

const ROOT = join(__dirname, '..');

/** Such as `npx jest packages/redis -t 'a title|another one'`. */
const commands = [
  ...readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8').matchAll(/`npx jest ([^`']+?)(?: -t '([^']+)')?`/g),
].map(([, paths, pattern]): [paths: string, titles: string[]] => [paths!, pattern?.split('|') ?? []]);

const testFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'], {
  cwd: ROOT,
})
  .toString()
  .trim()
  .split('\n');

const ofSuite = checks(() => new MemoryStore()).map(({ name }) => name);

/** The titles that a file's text contains, and those of the conformance suite if it runs that. */
function titlesIn(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const titles = [...text.matchAll(/\(\s*(['"`])(.+?)\1,\s*(?:async )?(?:\(|\w+ =>)/g)].map(([, , title]) => title!);
  return /\bchecks\(/.test(text) ? [...titles, ...ofSuite] : titles;
}

test.each(commands)('docs/guarantees.md names tests that exist: %s %j', (paths, titles) => {
  const files = paths.split(' ').map((path) => testFiles.filter((file) => file.startsWith(path)));
  expect(files).not.toContainEqual([]);
  const existing = files.flat().flatMap(titlesIn);
  expect(titles.filter((title) => !existing.some((one) => new RegExp(title, 'i').test(one)))).toEqual([]);
});

test('docs/guarantees.md names some tests by their title', () => {
  expect(commands.filter(([, titles]) => titles.length > 0).length).toBeGreaterThan(2);
});
