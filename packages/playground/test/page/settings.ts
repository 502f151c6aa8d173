import { until } from '@rollgate/test-support';
import { nextTab, openPage, showPage } from '../support/browser.js';
import { expected, type PlaygroundPage } from '../support/playground-page.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

const settings = async () => (await server.records()).state.settings;
const becomes = (what: object) =>
  until(`the settings are ${JSON.stringify(what)}`, async () => {
    const now = await settings();
    return Object.entries(what).every(([name, value]) => now[name as keyof typeof now] === value);
  });
const title = (algorithm: string) => `#titles [data-row="${algorithm}"]`;
const slider = ({ page }: PlaygroundPage, name: string) => page.getByRole('slider', { name, exact: true });

test('sliders and the algorithm set the real limit', async () => {
  const page = await showPage(server, {});
  await slider(page, 'Limit').fill('4');
  await becomes({ limit: 4 });
  await slider(page, 'Window').fill('30000');
  await becomes({ windowMs: 30_000 });
  await slider(page, 'Minimum difference').fill('700');
  await becomes({ limit: 4, windowMs: 30_000, minDifferenceMs: 700 });
  await page.page.getByRole('combobox', { name: 'Algorithm' }).selectOption('Token bucket');
  await becomes({ algorithm: 'token', limit: 4, windowMs: 30_000, minDifferenceMs: 700 });
  await page.shows('h1', 'A token bucket allows a burst, and then a steady rate.');
  expect(await page.page.locator('#store-note').isHidden()).toBe(true);
  expect(await page.page.locator('output').allTextContents()).toEqual(['4', '30 s', '0.7 s']);
  expect((await server.hit()).headers.get('ratelimit-policy')).toBe('"default";q=4;w=30');
  expect((await server.hit()).status).toBe(429); // Too soon.
});

test('a dragged slider keeps the value at which it is released', async () => {
  const page = await showPage(server, {});
  await slider(page, 'Limit').scrollIntoViewIfNeeded();
  const box = (await slider(page, 'Limit').boundingBox())!;
  const { mouse } = page.page;
  await mouse.move(box.x + box.width * 0.2, box.y + box.height / 2);
  await mouse.down();
  for (let step = 2; step <= 9; step++) await mouse.move(box.x + (box.width * step) / 10, box.y + box.height / 2);
  await mouse.up();
  const limit = Number(await slider(page, 'Limit').inputValue());
  expect(limit).toBeGreaterThan(40);
  await becomes({ limit });
  expect(await slider(page, 'Limit').inputValue()).toBe(String(limit));
});

test('every algorithm can be selected, and the marks of the queue are at their starts', async () => {
  const page = await showPage(server, { limit: 4, windowMs: 4000 });
  const algorithm = page.page.getByRole('combobox', { name: 'Algorithm' });
  for (const value of ['bucketed', 'counter', 'fixed', 'token', 'leaky'] as const) {
    await algorithm.selectOption(value);
    await becomes({ algorithm: value });
  }
  expect(await slider(page, 'Minimum difference').isDisabled()).toBe(true);
  const hits = [server.hit(), server.hit(), server.hit()];
  await page.shows('#delay', /^and then delayed by [1-9]\.\d s$/);
  expect((await page.rows()).leaky!.waiting).toBeGreaterThan(0);
  await until('all have started', async () => (await page.drawn()).allowed === 3);
  await Promise.all(hits);
});

test('a new algorithm gets its row, and continues with its counts of the same requests', async () => {
  const page = await showPage(server, { limit: 3, windowMs: 60_000 });
  await page.press('Burst');
  await page.done();
  await page.page.getByRole('combobox', { name: 'Algorithm' }).selectOption('Token bucket');
  await page.shows(`${title('token')} .count`, '3 of 3');
  await page.shows(title('token'), 'Token bucket 3 of 3 in the last 60 syour code');
  expect((await page.rows()).token).toMatchObject({ allowed: 3, rejected: 5 });
  expect((await server.hit()).status).toBe(429);
});

test('the page does not count what was allowed before the window changed, but still shows it', async () => {
  const page = await showPage(server, { limit: 3, windowMs: 60_000 });
  await page.press('Burst');
  await page.done();
  await page.shows(`${title('rolling')} .more`, 'in the last 60 s');
  await slider(page, 'Window').fill('50000');
  await page.shows(`${title('rolling')} .more`, 'since all limits started over');
  expect(await page.text(`${title('rolling')} .count`)).toBe('0 of 3');
  await page.shows('#verdict', 'Most allowed in any 50 s so far: rolling window 0, fixed window 0 (limit 3)');
  expect(await page.drawn()).toMatchObject({ allowed: 3, rejected: 5 });
});

test('several tabs show the same requests and settings, including earlier requests', async () => {
  const one = await showPage(server, { limit: 6, windowMs: 60_000 });
  await one.press('Burst');
  await one.done();
  const other = await openPage(server.url, 'next');
  await other.draws(expected(await server.attempts()));
  await other.press('Burst');
  await until('all are decided', async () => (await server.attempts()).length === 22);
  const all = expected(await server.attempts());
  expect(all).toMatchObject({ allowed: 6, rejected: 16 });
  await one.draws(all);
  await other.draws(all);
  for (const tab of [one, other]) await tab.shows(`${title('rolling')} .count`, '6 of 6');
  const zeros = () =>
    Promise.all([one, other].map(({ page }) => page.locator('#countdown').getAttribute('data-allowed-at-ms')));
  await until('both count down to the same moment', async () => new Set(await zeros()).size === 1);

  await slider(one, 'Limit').fill('20');
  await until('the other tab shows it', async () => (await slider(other, 'Limit').inputValue()) === '20');
  await other.shows('#countdown', 'now');
});

test('a page that is loaded again shows what it showed', async () => {
  const page = await showPage(server, { limit: 3, windowMs: 60_000, algorithm: 'token' });
  await page.press('Burst');
  await page.done();
  const before = expected(await server.attempts());
  await page.draws(before);
  await page.page.reload();
  await page.connected();
  await page.draws(before);
  expect(await page.page.getByRole('combobox').inputValue()).toBe('token');
  expect(await slider(page, 'Limit').inputValue()).toBe('3');
  expect(page.errors).toEqual([]);
});

test('hidden tabs take no connections from the visible one', async () => {
  await server.begin({ limit: 20, windowMs: 60_000 });
  // As many as a browser opens connections to a server.
  for (const page of await Promise.all(Array.from({ length: 6 }, nextTab))) {
    await page.addInitScript("Object.defineProperty(Document.prototype, 'hidden', { get: () => true })");
    await page.goto(server.url);
  }
  const page = await openPage(server.url);
  await page.press('Burst');
  await page.done();
  await page.draws(expected(await server.attempts()));
});
