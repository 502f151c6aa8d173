import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import { useTab } from './support/browser.js';
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

/** Records how far the page's parts move while it loads, which `shift` reads. */
const OBSERVE_SHIFT = `
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

beforeAll(() => tab().page.addInitScript(OBSERVE_SHIFT));

describe.each(PAGES)('/%s', (name) => {
  test('fits wide and narrow screens without moving while it loads, is accessible in both themes and reports no error', async () => {
    const { page, url, errors } = tab();
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(url + name, { waitUntil: 'load' });
    expect(await page.evaluate('document.fonts.ready.then(() => window.shift)')).toBeLessThan(0.01);
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
