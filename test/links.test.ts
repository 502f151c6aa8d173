import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { leadsSomewhere, linksIn, REPOSITORY } from './support/links.js';

const ROOT = join(__dirname, '..');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: ROOT });
const pages = listed.toString().trim().split('\n');

test.each(pages)('%s links to files and headings that exist', (name) => {
  const page = join(ROOT, name);
  const links = linksIn(readFileSync(page, 'utf8'));
  expect(links.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
});

describe('a link', () => {
  const page = join(ROOT, 'docs/errors.md');

  test.each([
    'observe.md',
    'observe.md#events',
    '../README.md',
    'https://example.com/page.md',
    `${REPOSITORY}/blob/main/docs/observe.md#events`,
    `${REPOSITORY}/issues`,
    '#errors',
    'https://rollgate-js.github.io/rollgate/',
    'https://rollgate-js.github.io/rollgate/observe#events',
  ])('to %s leads somewhere', (target) => expect(leadsSomewhere(page, target)).toBe(true));

  test.each([
    'https://rollgate-js.github.io/rollgate/event',
    'event.md',
    'observe.md#metric',
    `${REPOSITORY}/tree/main/docs/event.md`,
    '#error',
  ])('to %s leads nowhere', (target) => expect(leadsSomewhere(page, target)).toBe(false));

  test('in code is not a link', () => {
    expect(linksIn('[a](b) `[c](d)`\n```\n[e](f)\n```\n![`g`](h)')).toEqual(['b', 'h']);
  });
});
