import { until } from '@rollgate/redis-server';
import { openPage } from './support/browser.js';
import { Server } from './support/server.js';

jest.setTimeout(60_000);

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());

/** Of the clock that the decisions go by. */
const CLOCK_MS = 1;

test('it reaches zero when the next request is let through: refused just before, let through at it', async () => {
  await server.begin({ limit: 2, windowMs: 3000 });
  const page = await openPage(server.url);
  await page.says('#countdown', 'now');
  await server.hit();
  await server.hit();
  await page.says('#countdown', /^in [12]\.\d s$/);
  const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
  const [first] = await server.attempts();
  expect(Math.abs(zeroMs - (first!.atMs + 3000))).toBeLessThan(20);

  // The page itself sends a request at the moment at which it says so.
  await page.page.locator('#countdown').evaluate((countdown) => {
    const { fetch, MutationObserver } = countdown.ownerDocument.defaultView;
    const send = () => {
      if (['in 0.1 s', 'now'].includes(countdown.textContent)) fetch('hit', { method: 'POST' });
    };
    new MutationObserver(send).observe(countdown, { childList: true, characterData: true, subtree: true });
  });
  await until('zero is over', async () => (await server.attempts()).filter(({ allowed }) => allowed).length === 3);
  const [before, at] = (await server.attempts()).slice(2);
  expect(before).toMatchObject({ allowed: false });
  expect(before!.atMs).toBeLessThan(zeroMs);
  expect(zeroMs - before!.atMs).toBeLessThan(150);
  expect(at).toMatchObject({ allowed: true });
  expect(at!.atMs).toBeGreaterThanOrEqual(zeroMs - CLOCK_MS);
  expect(at!.atMs - zeroMs).toBeLessThan(150);
});

test.each(['rolling', 'bucketed', 'counter', 'fixed', 'token', 'leaky'] as const)(
  '%s: whoever knocks all the time is refused until zero, and let in at it',
  async (algorithm) => {
    await server.begin({ algorithm, limit: 2, windowMs: 2000 });
    const page = await openPage(server.url);
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
    expect(attempts[firstIn - 1]!.atMs).toBeLessThan(zeroMs + CLOCK_MS);
    expect(attempts[firstIn]!.atMs).toBeGreaterThanOrEqual(zeroMs - CLOCK_MS);
    expect(attempts[firstIn]!.atMs - zeroMs).toBeLessThan(150);
  },
);

test('with a minimum distance it counts down to the end of the distance', async () => {
  await server.begin({ limit: 10, windowMs: 10_000, minDifferenceMs: 1500 });
  const page = await openPage(server.url);
  await server.hit();
  await page.says('#countdown', /^in [01]\.\d s$/);
  const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
  expect(Math.abs(zeroMs - (await server.attempts())[0]!.atMs - 1500)).toBeLessThan(20);
  await page.says('#countdown', 'now');
  expect((await server.hit()).status).toBe(200);
});
