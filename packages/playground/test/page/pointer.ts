import { until } from '@rollgate/test-support';
import { openContext, openPage } from '../support/browser.js';
import type { PlaygroundPage } from '../support/playground-page.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

const sent = async () => (await server.attempts()).length;

/** The number of requests that the page has ordered from its server. */
const ordersOf = ({ requested }: PlaygroundPage) => requested.filter((url) => url.endsWith('/send')).length;

/** Moves the mouse to a place in the chart, as parts of its width and height. */
async function moveTo({ page, chart }: PlaygroundPage, x: number, y: number): Promise<void> {
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
}

test('a click on the chart sends a request, and holding it sends more until it is released', async () => {
  await server.begin({ windowMs: 60_000 });
  const page = await openPage(server.url);
  await moveTo(page, 0.5, 0.3);
  const { mouse } = page.page;
  await mouse.down();
  await mouse.up();
  await until('one is sent', async () => (await sent()) >= 1);
  const first = await sent();
  await mouse.down();
  await until('more are sent', async () => (await sent()) >= first + 3);
  await mouse.up();
  const before = ordersOf(page);
  await page.becomes(
    'a while has passed',
    `performance.now() > ${await page.page.evaluate('performance.now() + 500')}`,
  );
  expect(ordersOf(page)).toBe(before);
});

test('the space bar sends as long as it is held, but on a control it does what the control does', async () => {
  await server.begin({ windowMs: 60_000 });
  const page = await openPage(server.url);
  const { keyboard } = page.page;
  await keyboard.down('Space');
  await until('several are sent', async () => (await sent()) >= 3);
  await keyboard.up('Space');
  const checkbox = page.page.getByRole('checkbox', { name: 'All algorithms' });
  const before = ordersOf(page);
  await checkbox.focus();
  await keyboard.press('Space');
  expect(await checkbox.isChecked()).toBe(true);
  await checkbox.uncheck();
  expect(ordersOf(page)).toBe(before);
  // A slider does nothing with it, so it sends, and the page does not scroll.
  await page.page.setViewportSize({ width: 390, height: 600 });
  await page.page.getByRole('slider', { name: 'Look back' }).focus();
  const scrolled = () => page.page.evaluate<number>('scrollY');
  const top = await scrolled();
  await keyboard.press('Space');
  await until('it sends', async () => ordersOf(page) > before);
  expect(await scrolled()).toBe(top);
});

test('a finger that taps sends a request, and one that moves looks back', async () => {
  await server.begin({ windowMs: 60_000 });
  const context = await openContext({ hasTouch: true, viewport: { width: 390, height: 844 } });
  const page = await openPage(server.url, context);
  await page.chart.locator('canvas').tap();
  await until('one is sent', async () => (await sent()) >= 1);
  const screen = await page.page.context().newCDPSession(page.page);
  const box = (await page.chart.boundingBox())!;
  const touch = (type: string, x?: number) =>
    screen.send('Input.dispatchTouchEvent', {
      type: type as 'touchStart',
      touchPoints: x === undefined ? [] : [{ x: box.x + x, y: box.y + 80 }],
    });
  const title = `document.querySelector('[data-row] .more').textContent`;
  // The finger moves at once, because one that rests sends requests.
  await Promise.all([touch('touchStart', 200), touch('touchMove', 150)]);
  let x = 150;
  await until('the band ends in the past', async () => {
    x -= 0.1; // A finger that rests lets the chart follow the time again.
    await touch('touchMove', x);
    return (await page.page.evaluate(title)) === 'in the 60 s before';
  });
  await touch('touchEnd');
  await page.becomes('the chart follows the time', `${title} === 'in the last 60 s'`);
});

test('over the past, the band ends at the pointer, and over a mark the page explains the decision', async () => {
  await server.begin({ limit: 1, windowMs: 60_000 });
  const page = await openPage(server.url);
  await server.hit();
  await server.hit();
  await server.skip(20_000);
  const note = '[data-row="rolling"] .more';
  await page.shows('#countdown', /^in [34]\d\.\d s$/);
  let place = 0.2;
  await until('the band ends in the past', async () => {
    place += 0.0001; // A pointer that rests lets the chart follow the time again.
    await moveTo(page, place, 0.2);
    return (await page.text(note)) === 'in the 60 s before';
  });
  // The chart stands still, so the mark stays where it is: the rejection on top, about 20 s before now.
  const tip = page.page.locator('#tip');
  await until('the pointer finds the rejection', async () => {
    for (let x = 0.586; x > 0.55; x -= 0.006) {
      await moveTo(page, x, 65 / 480); // The uppermost mark of a row.
      await page.page.evaluate('new Promise(requestAnimationFrame)');
      await page.page.waitForTimeout(550); // Two frames, because motion is reduced.
      if (await tip.isVisible()) return true;
    }
    return false;
  });
  expect(await tip.textContent()).toMatch(
    /^Rejected: 1 in the 60 s before\. The oldest expires (60|59\.\d) s later\.$/,
  );
  await page.page.mouse.move(0, 0);
  await page.shows(note, 'in the last 60 s');
});

test('the slider "Look back" does the same for the keyboard', async () => {
  await server.begin({ windowMs: 60_000 });
  const page = await openPage(server.url);
  await page.page.getByRole('slider', { name: 'Look back' }).focus();
  const note = '[data-row="fixed"] .more';
  await until('the band ends in the past', async () => {
    await page.page.keyboard.press('ArrowLeft');
    return (await page.text(note)) === 'in the 60 s before, its counter is at 0';
  });
  await page.page.keyboard.press('End');
  await page.shows(note, /^in the last 60 s, /);
});
