import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromiumBinary, RedisServer } from '@rollgate/test-support';
import { type Browser, chromium, type Page } from 'playwright-core';
import { Server } from './support/server.js';

const STATIC = pathToFileURL(join(__dirname, '../dist/static/index.html')).href;
const COMMAND = join(__dirname, '../../cli/dist/main.js');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--renderer-process-limit=1'];

let browser: Browser;
let server: Server;
/** The pages without and with a server. All tests share them, because opening another takes longer than most tests. */
let filePage: Page;
let serverPage: Page;
let page: Page;
let errors: string[];
let requested: string[];
/** How often the clock of `filePage` was set to the next full hour, because it cannot go back. */
let hours = 0;
beforeAll(async () => {
  [browser, server] = await Promise.all([
    chromium.launch({ executablePath: await chromiumBinary(), args: ARGS }),
    Server.start(),
  ]);
  filePage = await createPage();
  serverPage = await createPage();
  await filePage.clock.install({ time: 0 });
});
afterAll(() => Promise.all([browser.close(), server.end()]));

async function createPage(): Promise<Page> {
  const created = await browser.newPage({ reducedMotion: 'reduce' });
  created.on('pageerror', (error) => errors.push(String(error)));
  created.on('request', (request) => requested.push(request.url()));
  return created;
}

/** Loads a page in its first state. Without a server, the time of its clock moves only when a test moves it. */
async function open(url: string, { width = 1280, reducedMotion = 'reduce' as 'reduce' | 'no-preference' } = {}) {
  [errors, requested] = [[], []];
  if (url.startsWith('http:')) page = serverPage;
  else {
    page = filePage;
    await page.clock.pauseAt(++hours * 3_600_000);
  }
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ reducedMotion, colorScheme: 'light' });
  await page.goto(url);
}

const press = (name: string) => page.getByRole('button', { name }).click();
/** Evaluated as text, because a locator first adds its own scripts to the page, which takes ten times as long. */
const textsOf = (selector: string) =>
  page.evaluate<string[]>(`Array.from(document.querySelectorAll('${selector}'), ({ textContent }) => textContent)`);
const counts = () => textsOf('#counters output');
const shows = (selector: string, hasText: string | RegExp) => page.locator(selector, { hasText }).waitFor();

describe('without a server', () => {
  test('an attack gets 19 and 20 through the others and 10 through Rollgate', async () => {
    await open(STATIC);
    await press('Attack');
    await page.clock.runFor(6000);
    expect(await counts()).toEqual(['19', '20', '10']);
    expect(await page.locator('#result').textContent()).toBe(
      'You got 19 through express-rate-limit and 20 through a clock-aligned window within 1 s. The limit is 10 per 5 s. Rollgate let 10 through.',
    );
    expect(await page.locator('#response').textContent()).toMatch(
      /^HTTP\/1\.1 429 Too Many Requests\nRetry-After: 4 \(4 s to go\)\nX-RateLimit-Limit: 10\n/,
    );
    await page.clock.runFor(1100);
    await shows('#response', '(3 s to go)');
    expect(requested.every((url) => url.startsWith('file:'))).toBe(true);
    expect(errors).toEqual([]);
  });

  test('clicks and the space bar send requests, and the link replays them', async () => {
    await open(`${STATIC}?limit=2`);
    await press('Send a request');
    await page.clock.runFor(1500);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Send a request' }).evaluate((button) => button.blur());
    await page.keyboard.press('Space');
    await page.clock.runFor(1000);
    expect(await counts()).toEqual(['2', '3', '2']);
    const search = await page.evaluate<string>('location.search');
    expect(search).toBe('?limit=2&t=0,1.5x2');
    await page.goto(STATIC + search);
    await page.clock.runFor(3000);
    expect(await counts()).toEqual(['2', '3', '2']);
    expect(await page.locator('canvas').first().getAttribute('aria-label')).toBe(
      'express-rate-limit: 2 of 3 requests allowed, at most 2 in any 5 s',
    );
    await press('Start over');
    await page.clock.runFor(1000);
    expect([await counts(), await page.evaluate('location.search')]).toEqual([['0', '0', '0'], '?limit=2']);
    expect(await textsOf('.lane output')).toEqual(['…', '…', '…']);
  });

  test('all algorithms race, and the worst comes first', async () => {
    await open(STATIC);
    await page.getByLabel('All algorithms').check();
    await press('Attack');
    await page.clock.runFor(6000);
    const lanes = await page.evaluate<string[]>(`Array.from(document.querySelectorAll('.lane'))
      .sort((one, other) => one.style.order - other.style.order)
      .map(({ textContent }) => textContent)`);
    expect(lanes).toHaveLength(7);
    expect(lanes.slice(0, 3)).toEqual(['Clock-aligned window20 ✗', 'express-rate-limit19 ✗', 'Token bucket12 ✗']);
    await page.clock.runFor(500);
    expect(await page.evaluate('location.search')).toMatch(/^\?rows=all&t=0,4\.6x10,5\.6x10$/);
  });

  test('controls and code change the same limit, and code that is wrong gets a message', async () => {
    await open(STATIC);
    const code = page.getByRole('textbox', { name: 'Code' });
    await page.locator('#algorithm').selectOption('Token bucket');
    await page.locator('#limit').fill('4');
    await page.locator('#limit').blur();
    expect(await code.inputValue()).toContain("limits: tokenBucket({ capacity: 4, refill: 4, every: '5s' })");
    await page.getByText('Fastify').click();
    expect(await code.inputValue()).toMatch(/^import \{ rateLimit, tokenBucket \} from '@rollgate\/fastify';/);
    await code.fill("rateLimit({ limit: 3, window: '9s' })");
    expect(await page.locator('#window').inputValue()).toBe('9');
    await page.clock.runFor(100);
    await shows('#goal', '4');
    await code.fill("rateLimit({ limit: 3, window: '9 hours' })");
    await shows('#code-problem', "Expected `window` to be a time such as '5s', got 9 hours");
    await page.clock.runFor(500);
    expect(await page.evaluate('location.search')).toBe('?limit=3&window=9s');
  });

  test('the chart of another page begins with the result, repeats the attack, and gives no verdict before its end', async () => {
    await open(STATIC.replace('index.html', 'chart.html'), { reducedMotion: 'no-preference' });
    const verdicts = () => textsOf('.lane output');
    await page.clock.runFor(100);
    expect([await counts(), await verdicts()]).toEqual([
      ['19', '10'],
      ['19 ✗', '10 ✓'],
    ]);
    await page.clock.fastForward(4000);
    await page.clock.runFor(100);
    expect([await counts(), await verdicts()]).toEqual([
      ['1', '1'],
      ['…', '…'],
    ]);
    await page.clock.runFor(1000);
    await page.clock.fastForward(4900);
    await page.clock.runFor(100);
    expect(await verdicts()).toEqual(['19 ✗', '10 ✓']);
    expect(await page.locator('button:visible').count()).toBe(0);
  });

  test('the link and the picture are copied', async () => {
    await open(STATIC);
    await page.evaluate(`(() => {
      globalThis.copied = [];
      navigator.clipboard.writeText = async (text) => void copied.push(text);
      navigator.clipboard.write = async ([item]) => void copied.push(item.types[0]);
    })()`);
    await press('Send a request');
    await page.getByText('Share').click();
    await press('Copy link');
    await press('Copy as picture');
    await shows('#copy-picture', 'Copied');
    expect(await page.evaluate('copied')).toEqual([`${STATIC}?t=0`, 'image/png']);
  });

  test.each([1280, 390])(
    'the picture has the three counts at %i pixels, whichever rows the page shows',
    async (width) => {
      await open(`${STATIC}?rows=all`, { width });
      await press('Attack');
      await page.clock.runFor(6000);
      await page.evaluate(
        `navigator.clipboard.write = async ([item]) => { globalThis.copied = item.getType('image/png'); }`,
      );
      await page.getByText('Share').click();
      await press('Copy as picture');
      await shows('#copy-picture', 'Copied');
      const colors = await page.evaluate(`(async () => {
      const picture = await createImageBitmap(await copied);
      const ctx = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      ctx.drawImage(picture, 0, 0);
      return [0, 1, 2].map((row) => {
        const pixels = ctx.getImageData(48, 165 + row * 156, 200, 70).data;
        const count = (isOf) => pixels.filter((value, at) => at % 4 === 0 && isOf(value, pixels[at + 1])).length;
        return count((red, green) => red > green + 80) > count((red, green) => green > red + 80) ? 'red' : 'green';
      });
    })()`);
      expect(colors).toEqual(['red', 'red', 'green']);
      expect(await page.locator('.lane').count()).toBe(7);
    },
  );

  test.each(['index', 'embed'])(
    '%s.html overflows at no width, and axe finds nothing, in light and dark',
    async (view) => {
      await open(STATIC.replace('index', view).concat('?rows=all&t=0,0x20'), { width: 390 });
      await page.clock.runFor(1000);
      await page.getByText('Find a limit for your own log').click();
      await page.evaluate(AXE);
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        await page.clock.runFor(1000);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await page.clock.resume();
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          // A color scheme changes colors only.
          const rules =
            colorScheme === 'light' ? '"wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"' : '"cat.color"';
          const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
            `axe.run({ runOnly: [${rules}], resultTypes: ['violations'] })`,
          );
          const found = violations.filter(
            ({ id }) => view === 'index' || !['page-has-heading-one', 'region'].includes(id),
          );
          expect(found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
        }
      }
    },
  );

  test('the page has a title, a description and a preview picture of the stated size', async () => {
    await open(STATIC);
    const content = (name: string) => page.locator(`meta[property="og:${name}"]`).getAttribute('content');
    expect(await page.title()).toContain('Try to get 11 through');
    expect(await page.locator('meta[name="description"]').getAttribute('content')).toContain('Rollgate 10');
    const size = await page.evaluate(`(async () => {
      const image = new Image();
      image.src = document.querySelector('meta[property="og:image"]').content;
      await image.decode();
      return [String(image.naturalWidth), String(image.naturalHeight)];
    })()`);
    expect(size).toEqual([await content('image:width'), await content('image:height')]);
  });
});

describe('with a server', () => {
  test('the server decides, each visitor starts fresh, and the page shows its response', async () => {
    for (let visit = 0; visit < 2; visit++) {
      await open(`${server.url}?limit=2&window=60s`);
      for (let click = 0; click < 3; click++) await page.getByRole('button', { name: 'Send a request' }).press('Enter');
      await shows('#response', '429');
      expect(await counts()).toEqual(['2', '2', '2']);
      expect(errors).toEqual([]);
    }
  });

  test('a log gets the limit that the command line suggests, and the chart shows the heaviest client', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, second)).toISOString();
    const requests = [
      ...Array.from({ length: 2000 }, (_, index) => [`198.51.100.${index % 100}`, Math.floor(index / 10)] as const),
      ...Array.from({ length: 90 }, (_, index) => ['203.0.113.9', index === 0 ? 60 : index < 45 ? 118 : 122] as const),
    ];
    const log = requests.map(([ip, second]) => `{"time":"${at(second)}","ip":"${ip}"}`).join('\n');
    const args = [COMMAND, 'suggest', '--window', '1m'];
    const report = execFileSync(process.execPath, args, { input: log, encoding: 'utf8', stdio: 'pipe' });
    await open(server.url);
    await page.getByText('Find a limit for your own log').click();
    const file = { name: 'log.gz', mimeType: 'application/gzip', buffer: gzipSync(log) };
    await page.locator('#log-file').setInputFiles(file);
    await shows('#log-facts', 'The heaviest caller is 203.0.113.9, with up to 89 in 1m');
    const facts = (await page.locator('#log-facts').textContent())!.split('\n');
    expect(facts.filter((fact) => !report.includes(fact))).toEqual([]);
    expect(await page.locator('#limit').inputValue()).toBe('6');
    await page.locator('#counters output', { hasText: '11' }).first().waitFor();
    const [express, , rollgate] = await counts();
    expect([express, rollgate]).toEqual(['11', '6']);
    expect(errors).toEqual([]);
  });

  test.each([
    ['little-endian', (bytes: Buffer) => bytes],
    ['big-endian', (bytes: Buffer) => bytes.swap16()],
  ])('a log in %s UTF-16 is read, and an IPv6 address with a zone is a client', async (_, encode) => {
    const line = (second: number) => `{"time":"2026-03-01T00:00:0${second}Z","ip":"fe80::1%eth0"}\r\n`;
    const buffer = encode(Buffer.from(`\ufeff${[0, 1, 2, 3].map(line).join('')}`, 'utf16le'));
    await open(server.url);
    await page.getByText('Find a limit for your own log').click();
    await page.locator('#log-file').setInputFiles({ name: 'u_ex.log', mimeType: 'text/plain', buffer });
    await shows('#log-facts', /fe80::.*4 in 1m/);
    expect(await page.locator('#limit').inputValue()).toBe('4');
    expect(errors).toEqual([]);
  });

  test('a pasted text that is no log gets a message', async () => {
    await open(server.url);
    await page.getByText('Find a limit for your own log').click();
    await page.locator('#log-text').fill('no log\n');
    await page.locator('#log-text').blur();
    await shows('#log-facts', 'it is in no known format');
    expect(errors).toEqual([]);
  });

  test('a server that is gone is a problem that the page shows', async () => {
    const other = await Server.start();
    await open(other.url);
    await other.end();
    await press('Send a request');
    await shows('#problem', 'The request got no decision');
  });

  test('on Redis, an attack gets no more than the limit through, and an outage is shown', async () => {
    const redis = await RedisServer.start();
    const other = await Server.start({ REDIS_URL: redis.url });
    try {
      await open(`${other.url}?window=2s`);
      await press('Attack');
      await page.locator('#counters output').nth(1).filter({ hasText: '20' }).waitFor();
      await shows('#response', 'HTTP/1.1');
      expect(await counts()).toEqual(['19', '20', '10']);
      await redis.stop();
      await press('Start over');
      await press('Send a request');
      await shows('#problem', 'Redis does not respond, so the memory of this server decides.');
    } finally {
      await other.end();
      await redis.stop();
    }
  });
});
