import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { useTab } from './support/browser.js';
import { observeShift, shiftOf } from './support/layout-shift.js';
import { fileOf, readBuilt, serveSite } from './support/site.js';

/** Pauses where the parts of a page begin, long enough for the browser to paint what it has. */
const PAUSES = ['VPNavBarMenu', '>Reference<', 'VPNavBarAppearance', 'VPNavBarHamburger', 'class="content"', '<h1'];
const PAUSE_MS = 100;

/** A slow phone line: 1.6 Mbit/s. A page needs four round trips: DNS, TCP, TLS and the request. */
const [BITS_PER_MS, ROUND_TRIP_MS] = [1600, 150];

async function sendInParts(response: ServerResponse, page: Buffer): Promise<void> {
  const starts = PAUSES.map((part) => page.indexOf(part)).filter((start) => start >= 0);
  const cuts = [0, ...starts.sort((a, b) => a - b), page.length];
  for (const [index, cut] of cuts.slice(1).entries()) {
    response.write(page.subarray(cuts[index], cut));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  response.end();
}

const tab = useTab(() => serveSite(sendInParts));

beforeAll(() => observeShift(tab().page));

test.each([
  ['', 390],
  ['', 1280],
  ['overview', 390],
  ['overview', 1000],
  ['overview', 1440],
  ['api/@rollgate/core', 1440],
])('/%s arrives in parts on a screen of %i px, and nothing moves', async (name, width) => {
  const { page, url } = tab();
  await page.setViewportSize({ width, height: 900 });
  await page.goto(url + name, { waitUntil: 'load' });
  expect(await shiftOf(page)).toBe(0);
});

test.each(['', 'overview', 'common-tasks', 'comparison', 'playground', 'api/@rollgate/core'])(
  'the largest part of the first screen of /%s needs no script, and its bytes arrive within 2 s over a slow line',
  async (name) => {
    const { page, url } = tab();
    await page.setViewportSize({ width: 390, height: 844 });
    const arrived: string[] = [];
    await page.route('**/*.js', (route) => route.abort());
    page.on('response', (response) => arrived.push(response.url()));
    await page.goto(url + name, { waitUntil: 'load' });
    await page.unroute('**/*.js');
    const largest = await page.evaluate<string>(`new Promise((resolve) => {
      const resolveLast = (list) => resolve(list.getEntries().at(-1).element.tagName);
      new PerformanceObserver(resolveLast).observe({ type: 'largest-contentful-paint', buffered: true });
    })`);
    expect(largest).toMatch(/^(?:H1|P|LI|CODE)$/);
    const files = arrived.map((address) => fileOf(new URL(address).pathname)!);
    const bits = files.reduce((sum, file) => sum + 8 * gzipSync(readBuilt(file)).length, 0);
    expect(4 * ROUND_TRIP_MS + bits / BITS_PER_MS).toBeLessThan(2000);
    page.removeAllListeners('response');
  },
);
