import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BASE, fileOf, PAGES, readBuilt } from './support/site.js';

const SITE = `https://rollgate-js.github.io${BASE}`;
const DIST = join(__dirname, '../.vitepress/dist');

/** What a page's head has: `title`, `canonical`, and each meta tag by its name. */
function headOf(html: string): Map<string, string> {
  const metas = html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)"/g);
  const head = new Map(Array.from(metas, ([, name, content]) => [name!, content!]));
  head.set('title', /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '');
  head.set('canonical', /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1] ?? '');
  return head;
}

const heads = new Map(PAGES.map((page) => [page, headOf(readBuilt(fileOf(BASE + page)!))]));

function sizeOf(file: string): number[] {
  const header = readFileSync(join(DIST, file)).subarray(0, 24);
  expect(header.subarray(1, 4).toString()).toBe('PNG');
  return [header.readUInt32BE(16), header.readUInt32BE(20)];
}

test.each(PAGES)('/%s has a description, its address, and a picture for other sites', (page) => {
  const head = heads.get(page)!;
  expect(head.get('description')).toMatch(/^.{40,160}$/);
  expect(head.get('canonical')).toBe(SITE + page);
  expect(head.get('og:url')).toBe(SITE + page);
  expect(head.get('og:title')).not.toBe('');
  expect(head.get('og:image')).toMatch(`${SITE}og/`);
  expect(sizeOf(decodeURI(head.get('og:image')!.slice(SITE.length)))).toEqual([1200, 630]);
});

test.each(['title', 'description'])('no two pages share a %s', (name) => {
  const values = [...heads.values()].map((head) => head.get(name));
  expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
});

test.each(PAGES)('/%s has a heading without entities, which its picture would show', (page) => {
  const source = join(__dirname, '..', `${page === '' || page.endsWith('/') ? `${page}index` : page}.md`);
  expect(/^# .+$/m.exec(readFileSync(source, 'utf8'))?.[0]).not.toMatch(/&#?\w+;/);
});

/** What a browser loads of a page before the reader does anything, compressed. The playground in a frame has its own budget. */
test.each(PAGES)('/%s takes at most 250 kB', (page) => {
  const file = fileOf(BASE + page)!;
  const assets = readBuilt(file).matchAll(/<(?:link|script) [^>]*?(?:href|src)="\/rollgate\/(assets\/[^"]+)"/g);
  const files = new Set([file, ...Array.from(assets, ([, asset]) => asset!)]);
  expect(files.size).toBeGreaterThan(3);
  const bytes = Array.from(files, (name) => gzipSync(readFileSync(join(DIST, name))).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(250_000);
});

test('the sitemap lists every page by its canonical address', () => {
  const listed = Array.from(readBuilt('sitemap.xml').matchAll(/<loc>([^<]+)<\/loc>/g), ([, address]) => address!);
  expect(listed.map((address) => decodeURI(address)).sort()).toEqual(PAGES.map((page) => SITE + page).sort());
});

test("the playground's own page has a whole address of its picture, and is one with the page of the site", () => {
  const head = headOf(readBuilt('play/index.html'));
  expect(head.get('canonical')).toBe(`${SITE}playground`);
  expect(head.get('og:image')).toBe(`${SITE}play/preview.png`);
  expect(existsSync(join(DIST, 'play/preview.png'))).toBe(true);
  expect(readFileSync(join(DIST, 'og/playground.png'))).toEqual(readFileSync(join(DIST, 'play/preview.png')));
});
