import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The repository that the pages link to, without a slash at the end. */
export const REPOSITORY = 'https://github.com/rollgate-js/rollgate';

/** The path below which the site is served, with a slash at both ends. */
export const BASE = '/rollgate/';

/** The address of the published site. READMEs link to it, and `test/support/links.ts` resolves these links. */
export const SITE = `https://rollgate-js.github.io${BASE}`;

/** The version that the pages describe. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../packages/core/package.json', import.meta.url), 'utf8'),
).version;

/** What the menu calls the version. `next` as long as no tag says that it is released. */
export const VERSION_LABEL = isReleased() ? `v${VERSION}` : `next (${VERSION})`;

function isReleased(): boolean {
  const tag = `v${VERSION}`;
  return (
    execFileSync('git', ['tag', '--list', tag], { cwd: fileURLToPath(new URL('.', import.meta.url)) })
      .toString()
      .trim() === tag
  );
}

/** The folders of `docs` whose files are not pages of the site. Links to them lead to the repository. */
export const OTHER_FOLDERS = [
  'node_modules',
  'internals',
  'scripts',
  'test',
  'api-reference',
  'benchmarks',
  'timelines',
  '.generated',
];
