import type { ServerResponse } from 'node:http';
import { useTab } from './support/browser.js';
import { observeShift, shiftOf } from './support/layout-shift.js';
import { serveSite } from './support/site.js';

/** Pauses where the parts of a page begin, long enough for the browser to paint what it has. */
const PAUSES = ['VPNavBarMenu', '>Reference<', 'VPNavBarAppearance', 'VPNavBarHamburger', 'class="content"', '<h1'];
const PAUSE_MS = 100;

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
