import { until } from '@rollgate/test-support';
import { openPage } from './support/browser.js';
import { Server } from './support/server.js';

jest.setTimeout(60_000);

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());

/** A process that is busy asks the clock late, for what it tells and for what it notes. */
const LATE_MS = 100;
const WINDOW_MS = 4000;

test('it reaches zero when the next request is let through: refused just before, let through at it', async () => {
  await server.begin({ limit: 2, windowMs: 3000 });
  const page = await openPage(server.url);
  await page.says('#countdown', 'now');
  await server.hit();
  await server.hit();
  await page.says('#countdown', /^in [12]\.\d s$/);
  const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
  const [first] = await server.attempts();
  expect(Math.abs(zeroMs - (first!.atMs + 3000))).toBeLessThan(LATE_MS);

  // The page itself sends a request whenever it says something else, and so at the moment at which it says "now".
  await page.page.locator('#countdown').evaluate((countdown) => {
    const { fetch, MutationObserver } = countdown.ownerDocument.defaultView;
    new MutationObserver(() => fetch('hit', { method: 'POST' })).observe(countdown, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  await until('zero is over', async () => (await server.attempts()).filter(({ allowed }) => allowed).length >= 3);
  const attempts = (await server.attempts()).slice(2);
  const firstIn = attempts.findIndex(({ allowed }) => allowed);
  expect(firstIn).toBeGreaterThan(0);
  expect(attempts[firstIn - 1]!.atMs).toBeLessThan(zeroMs + LATE_MS);
  expect(attempts[firstIn]!.atMs).toBeGreaterThan(zeroMs - LATE_MS);
});

test.each(['rolling', 'bucketed', 'counter', 'fixed', 'token', 'leaky'] as const)(
  '%s: whoever knocks all the time is refused until zero, and let in at it',
  async (algorithm) => {
    await server.begin({ algorithm, limit: 2, windowMs: WINDOW_MS });
    const page = await openPage(server.url);
    // Those that go by the clock's windows would else count down for a moment only.
    await until('a window of the clock has just begun', async () => Date.now() % WINDOW_MS < WINDOW_MS / 8);
    const held: Promise<unknown>[] = [];
    for (let hit = 0; hit < 4; hit++) held.push(server.hit());
    await until('one is refused', async () => (await server.attempts()).some(({ allowed }) => !allowed));
    await page.says('#countdown', /^in \d\.\d s$/);
    const { length } = await server.attempts();
    const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
    await until('one is let in', async () => {
      held.push(server.hit());
      return (await server.attempts()).slice(length).some(({ allowed }) => allowed);
    });
    await Promise.all(held);
    const attempts = (await server.attempts()).slice(length);
    const firstIn = attempts.findIndex(({ allowed }) => allowed);
    expect(firstIn).toBeGreaterThan(0);
    expect(attempts[firstIn - 1]!.atMs).toBeLessThan(zeroMs + LATE_MS);
    expect(attempts[firstIn]!.atMs).toBeGreaterThan(zeroMs - LATE_MS);
  },
);

test('with a minimum distance it counts down to the end of the distance', async () => {
  await server.begin({ limit: 10, windowMs: 10_000, minDifferenceMs: 4000 });
  const page = await openPage(server.url);
  await server.hit();
  await page.says('#countdown', /^in [1-3]\.\d s$/);
  const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
  expect(Math.abs(zeroMs - (await server.attempts())[0]!.atMs - 4000)).toBeLessThan(LATE_MS);
  await page.says('#countdown', 'now');
  expect((await server.hit()).status).toBe(200);
});
