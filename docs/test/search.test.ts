import { QUERIES, QUESTIONS } from './search-queries.js';
import { useTab } from './support/browser.js';

/** How many queries may find their page second or third. */
const MAX_NOT_FIRST = Math.floor(QUERIES.length / 20);

const tab = useTab();

beforeAll(async () => {
  const { page, url } = tab();
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${url}overview`, { waitUntil: 'networkidle' });
  await page.locator('.VPNavBarSearch button').first().click();
});

/** The addresses of the first results, as readers see them. */
async function search(query: string): Promise<string[]> {
  const { page, url } = tab();
  const input = page.locator('.search-input');
  const results = page.locator('.results .result');
  await input.fill('');
  await results.first().waitFor({ state: 'detached' });
  await input.fill(query);
  await results.first().waitFor();
  const links = (await results.evaluateAll((found) => found.map(({ href }: { href: string }) => href))) as string[];
  return links.slice(0, 3).map((link) => link.slice(url.length));
}

const pageOf = (link: string) => link.replace(/#.*/, '');

test('a search finds the page that answers it, almost always first', async () => {
  expect(QUERIES.length).toBeGreaterThanOrEqual(80);
  const found: { query: string; page: string; results: string[] }[] = [];
  for (const [query, page] of QUERIES) found.push({ query, page, results: (await search(query)).map(pageOf) });
  expect(found.filter(({ page, results }) => !results.includes(page))).toEqual([]);
  const notFirst = found.filter(({ page, results }) => results[0] !== page);
  expect(notFirst.length > MAX_NOT_FIRST ? notFirst : []).toEqual([]);
}, 300_000);

test.each([0, 20])(
  'of the twenty questions from number %i on, at least eighteen find the section that answers them first',
  async (start) => {
    const found: { query: string; section: string; results: string[] }[] = [];
    for (const [query, section] of QUESTIONS.slice(start, start + 20)) {
      found.push({ query, section, results: await search(query) });
    }
    // The first heading of a page is the page.
    const isFirst = ({ section, results: [first = ''] }: (typeof found)[number]) =>
      section.includes('#') ? first === section : pageOf(first) === section;
    const missed = found.filter((each) => !isFirst(each));
    expect(found).toHaveLength(20);
    expect(missed.length > 2 ? missed : []).toEqual([]);
  },
  300_000,
);
