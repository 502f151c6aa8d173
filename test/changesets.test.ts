import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const CHANGESETS = join(ROOT, '.changeset');

const published = readdirSync(join(ROOT, 'packages'))
  .map((name) => join(ROOT, 'packages', name, 'package.json'))
  .filter(existsSync)
  .map((path) => JSON.parse(readFileSync(path, 'utf8')))
  .filter((manifest) => !manifest.private)
  .map(({ name }): string => name)
  .sort();

test('all published packages, and no others, have one version', () => {
  expect(JSON.parse(readFileSync(join(CHANGESETS, 'config.json'), 'utf8')).fixed).toEqual([published]);
});

// After a release there are none.
const changesets = readdirSync(CHANGESETS).filter((name) => name.endsWith('.md') && name !== 'README.md');

test('changesets name published packages, and no major version', () => {
  const named = changesets.flatMap((name) => {
    const [, head] = readFileSync(join(CHANGESETS, name), 'utf8').split('---\n');
    return head!.trim().split('\n');
  });
  const allowed = published.flatMap((name) => ['patch', 'minor'].map((kind) => `"${name}": ${kind}`));
  expect(named.filter((line) => !allowed.includes(line))).toEqual([]);
});
