import { until } from '@rollgate/test-support';
import { MAX_ATTEMPTS } from '../../src/shared/retention.js';
import { expected, openContext, openPage, type PlaygroundPage } from '../support/browser.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

/** A frame after a flood takes a few times as long as one of a hundred requests, not two hundred times. */
const MOST_TIMES = 20;
/** Shorter frames are all alike. */
const LEAST_MS = 0.5;
/** As many marks fit into the stacks of a few columns; each request by itself would take twenty times as many. */
const MOST_MARKS = 1000;

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

/** How long the page's script took for a frame, over twenty that are all drawn from now on. */
async function ownMs({ chart }: PlaygroundPage): Promise<number> {
  for (const which of ['the frames that began before', 'twenty frames']) {
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

test('a flood does not make the page slow, and drives out none that still counts: every tab shows the same', async () => {
  await server.begin({ limit: 50, windowMs: 60_000 });
  const context = await openContext({ reducedMotion: 'no-preference' });
  const page = await openPage(server.url, context);
  await server.publish(50, 50);
  await page.draws(expected(await server.attempts()));
  const usualMs = await ownMs(page);

  await server.publish(0, MAX_ATTEMPTS + 1400);
  const { attempts, allowed, rejected } = await server.records();
  expect(attempts).toHaveLength(MAX_ATTEMPTS);
  expect(allowed + rejected).toBe(MAX_ATTEMPTS + 1500);
  const drawn = expected(attempts);
  expect(drawn.allowed).toBe(allowed);
  expect(allowed).toBe(50);
  await page.draws(drawn);
  const tookMs = await ownMs(page);
  const painted = await marksPainted(page);
  if (process.env.SHOW_FIGURES) console.log({ usualMs, tookMs, painted });
  expect(tookMs).toBeLessThan(MOST_TIMES * (usualMs + LEAST_MS));
  expect(painted).toBeGreaterThan(0);
  expect(painted).toBeLessThan(MOST_MARKS);
  expect(page.errors).toEqual([]);

  const other = await openPage(server.url);
  await other.draws(drawn);
  await other.shows('#fixed-rolling', '50 in the last 60 s');
  await page.page.bringToFront();
  const counts = await Promise.all([page, other].map((tab) => tab.text('#count')));
  expect(counts[0]).toBe(counts[1]);
});
