import { until } from '@rollgate/test-support';
import { leavePage, openPage } from '../support/browser.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

const WINDOW_MS = 60_000;

test('it reaches zero when the next request is allowed: rejected just before, allowed at it', async () => {
  await server.begin({ limit: 2, windowMs: WINDOW_MS });
  const page = await openPage(`${server.url}?autoplay=off`, { reducedMotion: 'no-preference' });
  await page.shows('#countdown', 'now');
  const beforeMs = await server.now();
  await server.hit();
  await server.hit();
  await page.shows('#countdown', /^in [56]\d\.\d s$/);
  const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
  expect(zeroMs).toBeGreaterThan(beforeMs + WINDOW_MS);

  // The page itself sends a request whenever its text changes, and so at the moment at which it becomes "now".
  await page.page.locator('#countdown').evaluate((countdown) => {
    const { fetch, MutationObserver } = countdown.ownerDocument.defaultView;
    new MutationObserver(() => fetch('hit', { method: 'POST' })).observe(countdown, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  await server.skip(zeroMs - 1000 - (await server.now()));
  await until('zero is over', async () => (await server.attempts()).filter(({ allowed }) => allowed).length >= 3);
  const attempts = (await server.attempts()).slice(2);
  const firstIn = attempts.findIndex(({ allowed }) => allowed);
  expect(firstIn).toBeGreaterThan(0);
  expect(attempts[firstIn]!.atMs).toBeGreaterThan(beforeMs + WINDOW_MS);
  await leavePage(); // It would go on sending.
});

test.each(['rolling', 'bucketed', 'counter', 'fixed', 'token', 'leaky'] as const)(
  '%s: a request is allowed at the moment that pages count down to, and no microsecond earlier',
  async (algorithm) => {
    await server.begin({ algorithm, limit: 2, windowMs: WINDOW_MS });
    const now = await server.now();
    await server.standAt(now - (now % WINDOW_MS) + 1.125 * WINDOW_MS);
    const isLetIn = async () => {
      const { length } = await server.attempts();
      server.hit().catch(() => {}); // A leaky bucket delays it.
      await until('it is decided', async () => (await server.attempts()).length > length);
      return (await server.attempts()).at(-1)!.allowed;
    };
    while (await isLetIn());
    const { allowedAtMs } = (await server.update()).next![algorithm];
    await server.standAt(allowedAtMs - 0.001);
    expect(await isLetIn()).toBe(false);
    await server.standAt(allowedAtMs);
    expect(await isLetIn()).toBe(true);
  },
);

test('with a minimum difference it counts down to the end of the distance', async () => {
  await server.begin({ minDifferenceMs: 4000 });
  await server.standAt((await server.now()) + WINDOW_MS);
  await server.hit();
  const [attempt] = await server.attempts();
  const { next } = await server.update();
  expect(next!.rolling.allowedAtMs).toBeCloseTo(attempt!.atMs + 4000, 2);
  await server.now();
  const page = await openPage(server.url);
  await page.shows('#countdown', /^in [1-3]\.\d s$/);
  await server.skip(4000);
  await page.shows('#countdown', 'now');
  expect((await server.hit()).status).toBe(200);
});
