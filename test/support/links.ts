import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** The address of the project's repository. The manifest of the workspace states it. */
export const REPOSITORY: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).homepage.split('#')[0];

/** The address of the documentation site, whose pages are the files in `docs`. */
export const SITE = 'https://rollgate-js.github.io/rollgate/';

/** The targets of all links and pictures in a Markdown text, except those in code. */
export function linksIn(markdown: string): string[] {
  const text = markdown.replace(/^(`{3,})[^`]*?^\1$/gms, '').replace(/`[^`\n]*`/g, '');
  return Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!);
}

/** Whether the link is to a file next to the page, and not to a section of the page or to another site. */
export const isRelative = (target: string): boolean => !/^(#|[a-z]+:)/.test(target);

/** Whether a link of a page leads to a file, and to a heading if it names one. Links to other sites count as right. */
export function leadsSomewhere(page: string, target: string): boolean {
  const [path, anchor] = fileOf(page, target).split('#') as [string, string?];
  if (path === '') return true;
  if (!existsSync(path)) return false;
  return anchor === undefined || anchorsIn(readFileSync(path, 'utf8')).has(anchor);
}

/** The file to which a link leads, with its anchor; an empty text for another site. */
function fileOf(page: string, target: string): string {
  const inRepository = /^\/(?:blob|tree)\/main\/(.+)$/.exec(
    target.startsWith(REPOSITORY) ? target.slice(REPOSITORY.length) : '',
  );
  if (inRepository !== null) return join(ROOT, inRepository[1]!);
  if (target.startsWith('#')) return page + target;
  if (target.startsWith(SITE)) return pageOfSite(target.slice(SITE.length));
  return isRelative(target) ? join(page, '..', target) : '';
}

/** The file of a page of the site; an empty text for the pages of the API, which the build of the site checks. */
function pageOfSite(path: string): string {
  if (path.startsWith('api/')) return '';
  if (path.startsWith('images/')) return join(ROOT, 'docs', path);
  const [, name = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(path) ?? [];
  return join(ROOT, 'docs', `${name === '' ? 'index' : name}.md`) + anchor;
}

/** The anchors that sites such as GitHub give to the headings of a page. */
function anchorsIn(markdown: string): Set<string> {
  const headings = Array.from(markdown.matchAll(/^#+ (.+)$/gm), ([, heading]) => heading!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
