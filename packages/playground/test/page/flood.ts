import { until } from '@rollgate/test-support';
import { MAX_ATTEMPTS } from '../../src/shared/retention.js';
import { openPage } from '../support/browser.js';
import { expected, type PlaygroundPage } from '../support/playground-page.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

/** A frame after a flood takes a few times as long as one of a hundred requests, not two hundred times. */
const MAX_SLOWDOWN = 20;
/** Shorter frames are all alike. */
const TOLERANCE_MS = 0.5;
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

/** How many marks one frame paints in both rows, and how many requests they and the labels such as "+12" stand for. */
function requestsPainted({ page }: PlaygroundPage): Promise<{ marks: number; all: number }> {
  return page.evaluate(`new Promise((resolve) => {
    const context = document.querySelector('#chart canvas').getContext('2d');
    const { clearRect, drawImage, fillText } = context;
    let [isCounting, marks, inLabels] = [false, 0, 0];
    context.clearRect = (x, y, ...size) => {
      if (x === 0 && y === 0) {
        if (isCounting) resolve({ marks, all: marks + inLabels });
        isCounting = true;
        marks = inLabels = 0;
      }
      clearRect.call(context, x, y, ...size);
    };
    // A stack of marks, each as high as it is wide, is painted at once.
    context.drawImage = (image, x, y, width, height, ...to) => {
      marks += height / width;
      drawImage.call(context, image, x, y, width, height, ...to);
    };
    context.fillText = (text, ...at) => {
      if (text.startsWith('+') && !text.endsWith('s')) inLabels += Number(text);
      fillText.call(context, text, ...at);
    };
  })`);
}

test('a flood does not slow the page down or displace requests that still count, and every tab shows the same', async () => {
  await server.begin({ limit: 50, windowMs: 60_000 });
  const page = await openPage(`${server.url}?autoplay=off`, { reducedMotion: 'no-preference' });
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
  const painted = await requestsPainted(page);
  if (process.env.SHOW_FIGURES) console.log({ usualMs, tookMs, painted });
  expect(tookMs).toBeLessThan(MAX_SLOWDOWN * (usualMs + TOLERANCE_MS));
  expect(painted.marks).toBeGreaterThan(0);
  expect(painted.marks).toBeLessThan(MOST_MARKS);
  expect(painted.all).toBe(2 * attempts.length); // Each request is in two rows.
  expect(page.errors).toEqual([]);

  await page.page.emulateMedia({ reducedMotion: 'reduce' });
  const other = await openPage(server.url, 'next');
  await other.draws(drawn);
  for (const tab of [other, page]) {
    await tab.page.bringToFront();
    await tab.shows('[data-row="fixed"] .count', '50 of 50');
    await tab.shows('[data-row="rolling"] .count', '50 of 50');
  }
});
