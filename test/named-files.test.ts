import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const INTERNALS = 'docs/internals';

/** The pages for contributors. */
const pages = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, INTERNALS)).map((name) => join(INTERNALS, name)),
];

/** The files and folders in code spans, such as `core/src/limits/hit-log.ts`. Those with a placeholder do not count. */
function namedPaths(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const spans = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)\/?`/g)].map(([, path]) => path!);
  return spans.filter((path) => /^(?:packages|test|scripts|bench|examples|mutants|docs)\/|\/src\//.test(path));
}

test.each(pages)('%s names files that exist', (page) => {
  const missing = namedPaths(page).filter(
    (path) => ![path, `packages/${path}`].some((one) => existsSync(join(ROOT, one))),
  );
  expect(missing).toEqual([]);
});
