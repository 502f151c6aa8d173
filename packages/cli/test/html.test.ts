import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromiumBinary } from '@rollgate/test-support';
import { type Browser, chromium, type Page } from 'playwright-core';
import { busyHits, combinedLine, START_MS, toLog } from './support/log-lines';
import { folder, rollgate, write } from './support/rollgate';

const EVIL = "/</script><script>document.title='owned'</script><img/src=x/onerror=alert(1)>";

let browser: Browser;
/** One tab for all tests. */
let page: Page | undefined;
beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: await chromiumBinary(),
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      ...['--renderer-process-limit=1', '--no-zygote', '--in-process-gpu'], // Fewer processes need less memory.
    ],
  });
  write('busy.log', toLog(busyHits(2_000, 5)));
});
afterAll(() => browser?.close());

async function open(name: string, colorScheme: 'light' | 'dark' = 'light') {
  page ??= await browser.newPage();
  page.removeAllListeners();
  await page.emulateMedia({ colorScheme });
  const [requests, complaints]: string[][] = [[], []];
  page.on('request', (request) => requests!.push(request.url()));
  page.on('console', (message) => complaints!.push(message.text()));
  page.on('pageerror', (error) => complaints!.push(String(error)));
  const url = pathToFileURL(join(folder(), name)).href;
  await page.goto(url, { waitUntil: 'load' });
  return { page, requests: requests!.filter((other) => other !== url), complaints: complaints! };
}

/** The parts of a canvas that the tests use, because this project has no browser types. */
interface Canvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): { getImageData(...box: number[]): { readonly data: Uint8ClampedArray } };
}

/** The number of colors in each chart, without the blurred edges. */
function colorsOfCharts(page: Page): Promise<number[]> {
  return page.locator('canvas').evaluateAll((canvases) =>
    (canvases as unknown as Canvas[]).map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const colors = new Set<number>();
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 255) colors.add((data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!);
      }
      return colors.size;
    }),
  );
}

/** The colors of the page's text and background: red, green and blue, from 0 to 255. */
async function inkAndPaper(page: Page): Promise<number[][]> {
  const colors = await page.locator('body').evaluate((body) => {
    const view = globalThis as unknown as { getComputedStyle(element: unknown): Record<string, string> };
    const { color, backgroundColor } = view.getComputedStyle(body);
    return [color!, backgroundColor!];
  });
  return colors.map((color) => color.match(/\d+/g)!.map(Number));
}

/** As defined by the Web Content Accessibility Guidelines. */
function luminance(color: readonly number[]): number {
  const [red, green, blue] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(ink: readonly number[], paper: readonly number[]): number {
  const [dark, light] = [luminance(ink), luminance(paper)].sort((one, other) => one - other);
  return (light! + 0.05) / (dark! + 0.05);
}

/** The labels of the charts for screen readers. */
function labelsOf(page: Page): Promise<(string | null)[]> {
  return page
    .getByRole('img')
    .evaluateAll((images) =>
      (images as unknown as { getAttribute(name: string): string | null }[]).map((image) =>
        image.getAttribute('aria-label'),
      ),
    );
}

const SPAN = 'from 2026-03-01 [\\d:]{8} UTC to 2026-03-01 [\\d:]{8} UTC';

test.each<[string, string[], string[], string[]]>([
  [
    'simulate',
    ['--limit', '10/1m', '--limit', '3/1s'],
    ['2,000 requests of 40 callers', '10/1m and 3/1s', 'Worst hit', 'limits: {', 'Requests and rejected, each 30s'],
    [`^Requests and rejected, each 30s, ${SPAN}: rejected [\\d,]+, requests 2,000$`],
  ],
  [
    'suggest',
    ['--window', '1m', '--window', '1s'],
    [
      '2,000 requests of 40 callers',
      'at most 0.1% of requests',
      'What a limit for 1s rejects',
      'Rejected, % of all, by limit for 1m',
    ],
    [1, 2].map(
      (_, index) => `^Rejected, % of all, by limit for ${['1m', '1s'][index]}, from 1 to \\d+: requests, callers$`,
    ),
  ],
  [
    'compare',
    ['--limit', '10/1m'],
    ['2,000 requests of 40 callers', '10/1m by each algorithm', 'bucketed', 'Rejected, each 30s'],
    ['rolling', 'fixed', 'counter', 'token', 'leaky', 'bucketed'].map(
      (name) => `^Rejected, each 30s, ${SPAN}: ${name} \\d+$`,
    ),
  ],
])('the page of %s draws its charts and loads nothing', async (command, args, words, labels) => {
  expect((await rollgate([command, 'busy.log', ...args, '--html', 'page.html'])).code).toBe(0);
  const papers: number[] = [];
  for (const scheme of ['light', 'dark'] as const) {
    const { page, requests, complaints } = await open('page.html', scheme);
    const colors = await colorsOfCharts(page);
    expect(colors).toHaveLength(labels.length);
    for (const count of colors) expect(count).toBeGreaterThan(2);
    expect(await labelsOf(page)).toEqual(labels.map((label) => expect.stringMatching(label)));
    const text = await page.locator('body').textContent();
    for (const word of words) expect(text).toContain(word);
    expect(text).toMatch(/Made by rollgate \d.* UTC from busy\.log:rollgate \w+ busy\.log .*--html page\.html/);
    const [ink, paper] = await inkAndPaper(page);
    expect(contrast(ink!, paper!)).toBeGreaterThan(7);
    papers.push(luminance(paper!));
    expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
  }
  const [light, dark] = papers;
  expect(light! - dark!).toBeGreaterThan(0.5);
});

test.each(['simulate', 'suggest', 'compare'])(
  'the page of %s begins with the result and fits a phone',
  async (command) => {
    const limit = command === 'suggest' ? [] : ['--limit', '10/1m'];
    await rollgate([command, 'busy.log', ...limit, '--html', 'phone.html']);
    const { stdout } = await rollgate([command, 'busy.log', ...limit]);
    const { page } = await open('phone.html');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    expect(await page.locator('h1').textContent()).toBe(stdout.split('\n')[0]);
    const [canvas, table] = await Promise.all(
      ['canvas', 'table'].map((name) => page.locator(name).first().boundingBox()),
    );
    expect(canvas!.y).toBeLessThan(table!.y);
    expect(canvas!.y + canvas!.height).toBeLessThan(844);
    const widths = await page.locator('html').evaluate((html) => {
      const { scrollWidth, clientWidth } = html as unknown as { scrollWidth: number; clientWidth: number };
      return { scrollWidth, clientWidth };
    });
    expect(widths.scrollWidth).toBe(widths.clientWidth);
    await page.setViewportSize({ width: 1280, height: 720 });
  },
);

test('HTML in a log is text on the page', async () => {
  const hits = Array.from({ length: 3 }, (_, second) => ({ ms: START_MS + second * 1000, ip: 'a', path: EVIL }));
  write('evil.log', `${toLog(hits)}${EVIL}\n${combinedLine({ ms: START_MS, ip: 'a', path: '/' })}\n`);
  await rollgate(['simulate', 'evil.log', '--limit', '1/1m', '--by', 'path', '--html', 'evil.html']);
  const { page, requests, complaints } = await open('evil.html');
  expect(await page.locator('.wide td').first().textContent()).toBe(EVIL);
  expect(await page.title()).toBe('rollgate simulate: 1/1m, rolling');
  expect(await page.locator('p', { hasText: 'Warning: ' }).textContent()).toContain(EVIL.slice(0, 40));
  expect(await page.locator('img').count()).toBe(0);
  expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
  expect(readFileSync(join(folder(), 'evil.html'), 'utf8')).not.toContain(EVIL);
});
