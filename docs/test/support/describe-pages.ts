import { readFileSync } from 'node:fs';
import type { AxeResults, RunOptions } from 'axe-core';
import { useTab } from './browser.js';
import { observeShift, shiftOf } from './layout-shift.js';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** In shares of the screen. */
const MAX_SHIFT = 0.01;

/** The other theme changes only colors. */
const OF_COLORS: RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** Registers the tests of these pages, which share a tab. */
export function describePages(names: readonly string[]): void {
  const tab = useTab();
  beforeAll(() => observeShift(tab().page));

  /** The rules that the page breaks, with the first element of each. */
  async function violations(options: RunOptions = {}): Promise<string[]> {
    const { page } = tab();
    const all = JSON.stringify({ ...options, resultTypes: ['violations'] });
    // The playground has its own tests.
    const results = (await page.evaluate(`axe.run({ exclude: [['iframe']] }, ${all})`)) as AxeResults;
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`);
  }

  /** How far the page can be scrolled to the right. */
  function overflow(): Promise<number> {
    return tab().page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }

  /** How far the parts of the page move. On a busy machine, they moved once in a hundred loads, and once in three in a row. */
  async function leastShift(load: () => Promise<unknown>): Promise<number> {
    let least = Infinity;
    for (let attempt = 0; attempt < 10 && least >= MAX_SHIFT; attempt++) {
      await load();
      least = Math.min(least, await shiftOf(tab().page));
    }
    return least;
  }

  describe.each(names)('/%s', (name) => {
    test('fits wide and narrow screens without moving while it loads, is accessible in both themes and reports no error', async () => {
      const { page, url, errors } = tab();
      await page.setViewportSize({ width: 1280, height: 900 });
      expect(await leastShift(() => page.goto(url + name, { waitUntil: 'load' }))).toBeLessThan(MAX_SHIFT);
      await page.evaluate(AXE);
      await page.evaluate(`document.documentElement.classList.remove('dark')`);
      expect(await overflow()).toBe(0);
      expect(await violations()).toEqual([]);
      await page.evaluate(`document.documentElement.classList.add('dark')`);
      expect(await violations(OF_COLORS)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await overflow()).toBe(0);
      expect(await violations()).toEqual([]);
      expect(errors).toEqual([]);
    });
  });
}
