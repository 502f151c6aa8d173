import { QUERIES } from './search-queries.js';
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

/** The pages of the first results, as readers see them. */
async function search(query: string): Promise<string[]> {
  const { page, url } = tab();
  const input = page.locator('.search-input');
  const results = page.locator('.results .result');
  await input.fill('');
  await results.first().waitFor({ state: 'detached' });
  await input.fill(query);
  await results.first().waitFor();
  const links = (await results.evaluateAll((found) => found.map(({ href }: { href: string }) => href))) as string[];
  return links.slice(0, 3).map((link) => link.slice(url.length).replace(/#.*/, ''));
}

test('a search finds the page that answers it, almost always first', async () => {
  expect(QUERIES.length).toBeGreaterThanOrEqual(80);
  const found: { query: string; page: string; results: string[] }[] = [];
  for (const [query, page] of QUERIES) found.push({ query, page, results: await search(query) });
  expect(found.filter(({ page, results }) => !results.includes(page))).toEqual([]);
  const notFirst = found.filter(({ page, results }) => results[0] !== page);
  expect(notFirst.length > MAX_NOT_FIRST ? notFirst : []).toEqual([]);
}, 300_000);
