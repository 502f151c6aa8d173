import { until } from '@rollgate/test-support';
import { MOST_ATTEMPTS } from '../src/shared/keeping.js';
import { expected, openContext, openPage, type PlaygroundPage } from './support/browser.js';
import { flood } from './support/flood.js';
import { Server } from './support/server.js';

jest.setTimeout(120_000);

const REQUESTS = 10_000;
/** What the page's own script may take for a frame, on a machine that is busy with other things; measured are two. */
const MOST_MS = 50;
/** As many marks fit into the stacks of a few columns; each request by itself would take twenty times as many. */
const MOST_MARKS = 1000;

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());

/** How long the page's script took for a frame, over sixty that are all drawn from now on. */
async function ownMs({ chart }: PlaygroundPage): Promise<number> {
  for (const which of ['the frames that began before', 'sixty frames']) {
    await chart.evaluate((element) => element.removeAttribute('data-frame-ms'));
    await until(`${which} are drawn`, async () => (await chart.getAttribute('data-frame-ms')) !== null);
  }
  return Number(await chart.getAttribute('data-frame-ms'));
}

/** How many marks one frame paints. */
function marksPainted({ chart }: PlaygroundPage): Promise<number> {
  return chart.locator('canvas').evaluate((canvas) => {
    const context = canvas.getContext('2d');
    const { clearRect, drawImage } = context;
    let count = 0;
    return new Promise<number>((resolve) => {
      let isCounting = false;
      context.clearRect = (...box: number[]) => {
        if (isCounting) resolve(count);
        isCounting = true;
        clearRect.apply(context, box);
      };
      context.drawImage = (...image: unknown[]) => {
        if (isCounting) count += 1;
        drawImage.apply(context, image);
      };
    });
  });
}

test('10,000 requests do not make the page slow', async () => {
  await server.begin({ limit: 50, windowMs: 60_000 });
  const page = await openPage(server.url);
  await flood(server.url, REQUESTS);
  const attempts = await server.attempts();
  expect(attempts).toHaveLength(REQUESTS);
  await page.draws(expected(attempts));
  const tookMs = await ownMs(page);
  const painted = await marksPainted(page);
  if (process.env.SHOW_FIGURES) console.log({ tookMs, painted });
  expect(tookMs).toBeLessThan(MOST_MS);
  expect(painted).toBeGreaterThan(0);
  expect(painted).toBeLessThan(MOST_MARKS);
  expect(page.errors).toEqual([]);
});

test('a flood drives out none that still counts: every tab shows the same, a new one, too', async () => {
  await server.begin({ limit: 50, windowMs: 60_000 });
  const context = await openContext();
  const page = await openPage(server.url, context);
  await flood(server.url, MOST_ATTEMPTS + 1500);
  const { attempts, letThrough, refused } = await server.records();
  expect(attempts).toHaveLength(MOST_ATTEMPTS);
  expect(letThrough + refused).toBe(MOST_ATTEMPTS + 1500);
  const drawn = expected(attempts);
  expect(drawn.letThrough).toBe(letThrough);
  expect(letThrough).toBeGreaterThanOrEqual(50);
  await page.draws(drawn);
  const other = await openPage(server.url, context);
  await other.draws(drawn);
  expect(await other.text('#fixed-rolling')).toMatch(/^(50|100) in the last 60 s$/);
  await page.page.bringToFront();
  const counts = await Promise.all([page, other].map((tab) => tab.text('#count')));
  expect(counts[0]).toBe(counts[1]);
});
