import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@rollgate/test-support';
import { openPage, showPage } from '../support/browser.js';
import { findPaintedMarks } from '../support/pixels.js';
import { expected } from '../support/playground-page.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const COUNT = '[data-row="rolling"] .count';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

test('each request is a mark, in both rows', async () => {
  const page = await showPage(server, { limit: 4, windowMs: 60_000 });
  for (let hit = 0; hit < 7; hit++) await server.hit();
  const attempts = await server.attempts();
  expect(attempts).toHaveLength(7);
  await page.draws(expected(attempts));
  expect(page.errors).toEqual([]);
});

test('the marks can be counted in the picture: full discs and crosses, each in its row', async () => {
  const page = await showPage(server, { limit: 3, windowMs: 60_000 });
  // No boundary of the fixed window, whose line would cover a mark, may lie among the requests, also on a busy machine.
  await server.skip(60_000 - ((await server.now()) % 60_000) + 1000);
  for (let hit = 1; hit <= 5; hit++) {
    await server.hit();
    await server.skip(3000); // Apart in the picture: that is some twenty pixels.
  }
  const attempts = await server.attempts();
  await page.draws(expected(attempts));
  const { allowed, beyond, rejected } = await findPaintedMarks(page.page);
  const rows = (blobs: typeof allowed) => [
    blobs.filter(({ row }) => row === 'upper').length,
    blobs.filter(({ row }) => row === 'lower').length,
  ];
  const { fixed } = await page.rows();
  expect(rows(allowed)).toEqual([3, fixed!.allowed]);
  expect(rows(beyond)).toEqual([0, fixed!.beyond]);
  expect(rows(rejected)).toEqual([2, fixed!.rejected]);
  // A disc fills more of its box than a cross.
  const fullness = (blobs: typeof allowed) => blobs.map(({ fill }) => fill);
  expect(Math.min(...fullness(allowed))).toBeGreaterThan(Math.max(...fullness(rejected)));
});

test('marks keep their size when the page is zoomed', async () => {
  const page = await showPage(server, {});
  await server.hit();
  const areLarge = async () => {
    await delay(250);
    const marks = (await findPaintedMarks(page.page)).allowed;
    return marks.length === 2 && marks.every(({ width }) => width > 5);
  };
  await until('a disc has come whole into each row', areLarge);
  const screen = await page.page.context().newCDPSession(page.page);
  const override = { width: 640, height: 450, deviceScaleFactor: 2, mobile: false }; // As at 200%.
  await screen.send('Emulation.setDeviceMetricsOverride', override);
  const canvas = page.chart.locator('canvas');
  await until('the canvas is as dense', async () =>
    canvas.evaluate(({ width: own, clientWidth }) => own === 2 * clientWidth),
  );
  await until('the discs are as large', areLarge);
  await screen.send('Emulation.clearDeviceMetricsOverride');
  await page.page.setViewportSize({ width: 1280, height: 900 });
});

test('marks move to the left, and disappear with the windows that the chart shows', async () => {
  const page = await showPage(server, { limit: 1, windowMs: 60_000 });
  await server.hit();
  const one = { allowed: 1, rejected: 0, fixedAllowed: 1, fixedRejected: 0 };
  await page.draws(one);
  const where = async () => {
    await delay(250); // Looking takes the browser as long.
    return (await findPaintedMarks(page.page)).allowed.find(({ row }) => row === 'upper')?.x;
  };
  await server.skip(5000); // Away from the line of the present.
  let first = 0;
  await until('the mark is visible', async () => {
    first = (await where()) ?? 0;
    return first > 0;
  });
  await server.skip(61_000);
  await page.shows(COUNT, '0 of 1');
  const moved = async () => first - ((await where()) ?? Infinity);
  await until('it has moved by a window', async () => (await moved()) > 100);
  const byOne = await moved();
  await server.skip(30_500);
  await until('it has moved half as far again', async () => Math.abs((await moved()) - 1.5 * byOne) < byOne / 10);
  await page.draws(one);
  await server.skip(30_000);
  await page.draws({ allowed: 0, rejected: 0, fixedAllowed: 0, fixedRejected: 0 });
});

test('the last window is a band with its count against the limit, and it rolls', async () => {
  const page = await showPage(server, { limit: 5, windowMs: 60_000 });
  await server.hit();
  await server.skip(20_000);
  await server.hit();
  await page.shows(COUNT, '2 of 5');
  await page.shows('[data-row="rolling"] .more', 'in the last 60 s');
  // 1.7 windows of the past are shown, and 0.65 of the future.
  expect((await findPaintedMarks(page.page)).bandLeft).toBeCloseTo(0.7 / 2.35, 1);
  await server.skip(41_000);
  await page.shows(COUNT, '1 of 5');
  await server.skip(20_000);
  await page.shows(COUNT, '0 of 5');
});

test('the page calls no other host and has no error', async () => {
  await server.begin({});
  const page = await openPage(server.url);
  await page.press('Burst');
  await page.done();
  const paths = page.requested.map((url) => (url.startsWith(`${server.url}/`) ? new URL(url).pathname : url));
  // Browsers without tabs do not request the icon.
  const withIcon = new Set([...paths, '/favicon.svg']);
  expect([...withIcon].sort()).toEqual(['/', '/events', '/favicon.svg', '/page.js', '/run/burst', '/style.css']);
  expect((await fetch(`${server.url}/favicon.svg`)).headers.get('content-type')).toContain('image/svg+xml');
  expect(page.errors).toEqual([]);
  const policy = (await fetch(server.url)).headers.get('content-security-policy');
  expect(policy).toContain("default-src 'self'");
});

test.each([1280, 390])('at %d pixels nothing sticks out to the side', async (width) => {
  const { page } = await openPage(server.url);
  await page.setViewportSize({ width, height: 844 });
  const html = page.locator('html');
  expect(await html.evaluate((element) => element.scrollWidth)).toBe(width);
  for (const box of await page.locator('button, input, select, canvas').all()) {
    const { x, width: own, height } = (await box.boundingBox())!;
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + own).toBeLessThanOrEqual(width);
    expect(height).toBeGreaterThanOrEqual(24); // What a finger can hit.
  }
});
