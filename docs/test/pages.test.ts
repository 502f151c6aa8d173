import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import { useTab } from './support/browser.js';
import { observeShift, shiftOf } from './support/layout-shift.js';
import { PAGES } from './support/site.js';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const tab = useTab();

/** The rules that the page breaks, with the first element of each. */
async function violations(): Promise<string[]> {
  const { page } = tab();
  // The playground has its own tests.
  const results = (await page.evaluate(`axe.run({ exclude: [['iframe']] })`)) as AxeResults;
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`);
}

/** How far the page can be scrolled to the right. */
function overflow(): Promise<number> {
  return tab().page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** In shares of the screen. */
const MAX_SHIFT = 0.01;

beforeAll(() => observeShift(tab().page));

/** The pages of the API's symbols are alike, so every tenth one is loaded. A thorough run loads all of them. */
const isLoaded = (name: string, index: number) =>
  process.env.ROLLGATE_THOROUGH === '1' || name.split('/').length < 4 || index % 10 === 0;

/** How far the parts of the page move. On a busy machine, they moved once in about a hundred loads. */
async function leastShift(load: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let attempt = 0; attempt < 3 && least >= MAX_SHIFT; attempt++) {
    await load();
    least = Math.min(least, await shiftOf(tab().page));
  }
  return least;
}

describe.each(PAGES.filter(isLoaded))('/%s', (name) => {
  test('fits wide and narrow screens without moving while it loads, is accessible in both themes and reports no error', async () => {
    const { page, url, errors } = tab();
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await leastShift(() => page.goto(url + name, { waitUntil: 'load' }))).toBeLessThan(MAX_SHIFT);
    await page.evaluate(AXE);
    await page.evaluate(`document.documentElement.classList.remove('dark')`);
    expect(await overflow()).toBe(0);
    expect(await violations()).toEqual([]);
    await page.evaluate(`document.documentElement.classList.add('dark')`);
    expect(await violations()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await overflow()).toBe(0);
    expect(await violations()).toEqual([]);
    expect(errors).toEqual([]);
  });
});
