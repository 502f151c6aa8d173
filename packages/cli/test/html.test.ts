import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from './support/chromium';
import { busyHits, combinedLine, START_MS, toLog } from './support/log-lines';
import { folder, rollgate, write } from './support/rollgate';

const EVIL = "/</script><script>document.title='owned'</script><img/src=x/onerror=alert(1)>";

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
  write('busy.log', toLog(busyHits(2_000, 5)));
});
afterAll(() => browser?.close());

/** What the page asked for and complained of, beside the page itself. */
async function open(name: string, colorScheme: 'light' | 'dark' = 'light') {
  const page = await browser.newPage({ colorScheme });
  const [requests, complaints]: string[][] = [[], []];
  page.on('request', (request) => requests!.push(request.url()));
  page.on('console', (message) => complaints!.push(message.text()));
  page.on('pageerror', (error) => complaints!.push(String(error)));
  const url = pathToFileURL(join(folder(), name)).href;
  await page.goto(url, { waitUntil: 'load' });
  return { page, requests: requests!.filter((other) => other !== url), complaints: complaints! };
}

/** What the tests need of a canvas, as the types of this project know no browser. */
interface Canvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): { getImageData(...box: number[]): { readonly data: Uint8ClampedArray } };
}

/** In how many colours each chart was drawn, those of blurred edges left out. */
function coloursOfCharts(page: Page): Promise<number[]> {
  return page.locator('canvas').evaluateAll((canvases) =>
    (canvases as unknown as Canvas[]).map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const colours = new Set<number>();
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 255) colours.add((data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!);
      }
      return colours.size;
    }),
  );
}

/** What the page's text and its ground are coloured. */
function inkAndPaper(page: Page): Promise<string[]> {
  return page.locator('body').evaluate((body) => {
    const view = globalThis as unknown as { getComputedStyle(element: unknown): Record<string, string> };
    const { color, backgroundColor } = view.getComputedStyle(body);
    return [color!, backgroundColor!];
  });
}

test.each([
  ['simulate', ['--limit', '10/1m', '--limit', '3/1s'], 1],
  ['suggest', ['--window', '1m', '--window', '1s'], 2],
  ['compare', ['--limit', '10/1m'], 1],
] as const)(
  'the page of %s draws its charts, and needs nothing else',
  async (command, args, charts) => {
    const { code, stdout } = await rollgate([command, 'busy.log', ...args, '--html', 'page.html']);
    expect(code).toBe(0);
    for (const scheme of ['light', 'dark'] as const) {
      const { page, requests, complaints } = await open('page.html', scheme);
      const colours = await coloursOfCharts(page);
      expect(colours).toHaveLength(charts);
      for (const count of colours) expect(count).toBeGreaterThan(2);
      const text = await page.locator('body').textContent();
      for (const word of ['2,000 requests', '10/1m']) if (stdout.includes(word)) expect(text).toContain(word);
      const [ink, paper] = await inkAndPaper(page);
      expect(ink).not.toBe(paper);
      expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
      await page.close();
    }
  },
  60_000,
);

test('what strangers sent is text on the page', async () => {
  const hits = Array.from({ length: 3 }, (_, second) => ({ ms: START_MS + second * 1000, ip: 'a', path: EVIL }));
  write('evil.log', `${toLog(hits)}${EVIL}\n${combinedLine({ ms: START_MS, ip: 'a', path: '/' })}\n`);
  await rollgate(['simulate', 'evil.log', '--limit', '1/1m', '--by', 'path', '--html', 'evil.html']);
  const { page, requests, complaints } = await open('evil.html');
  expect(await page.locator('.wide td').first().textContent()).toBe(EVIL);
  expect(await page.title()).toBe('rollgate simulate: 1/1m, rolling');
  expect(await page.locator('.note').textContent()).toContain(EVIL.slice(0, 40));
  expect(await page.locator('img').count()).toBe(0);
  expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
  expect(readFileSync(join(folder(), 'evil.html'), 'utf8')).not.toContain(EVIL);
});
