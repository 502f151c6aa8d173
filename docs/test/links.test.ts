import { BASE, fileOf, PAGES, REDIRECTS, readBuilt } from './support/site.js';

const htmlOf = (page: string) => readBuilt(fileOf(BASE + page)!);

/** The parts of a large package in the API reference. Its own page lists them. */
const IN_PARTS = /^\/rollgate\/api\/.*\/(?:classes|interfaces|functions|types|variables|references)(?:\/|$)/;

/** The anchors of a page. */
const ids = new Map<string, Set<string>>();
function idsIn(file: string): Set<string> {
  if (!ids.has(file)) ids.set(file, new Set(Array.from(readBuilt(file).matchAll(/ id="([^"]+)"/g), ([, id]) => id!)));
  return ids.get(file)!;
}

/** Whether a link leads to a file of the site, and to an anchor if it names one. Links to other sites count as right. */
function leadsSomewhere(page: string, link: string): boolean {
  const { origin, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site${BASE}${page}`);
  if (origin !== 'http://site') return true;
  const file = fileOf(pathname);
  if (file === undefined) return false;
  return hash === '' || !file.endsWith('.html') || idsIn(file).has(decodeURIComponent(hash.slice(1)));
}

test.each(PAGES)('/%s links to pages and headings that exist', (page) => {
  const links = Array.from(htmlOf(page).matchAll(/<a [^>]*?href="([^"]+)"/g), ([, link]) => link!);
  expect([...new Set(links)].filter((link) => !leadsSomewhere(page, link))).toEqual([]);
});

test.each(Object.entries(REDIRECTS))('the old address /%s leads to /%s, which exists', (from, to) => {
  expect(leadsSomewhere('', to)).toBe(true);
  expect(readBuilt(`${from}.html`)).toContain(`href="${BASE}${to}"`);
});

test('llms.txt lists every page, and each is there as plain Markdown', () => {
  const listed = Array.from(readBuilt('llms.txt').matchAll(/\]\(https:\/\/[^/]+(\/\S+)\.md\)/g), ([, path]) => path!);
  const pages = PAGES.filter((page) => page !== '').map((page) => `${BASE}${page}${page.endsWith('/') ? 'index' : ''}`);
  expect(pages.filter((page) => !listed.includes(page) && !IN_PARTS.test(page))).toEqual([]);
  expect(listed.filter((path) => fileOf(`${path}.md`) === undefined)).toEqual([]);
});
