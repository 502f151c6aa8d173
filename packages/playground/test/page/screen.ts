import { until } from '@rollgate/test-support';
import { openPage } from '../support/browser.js';
import type { PlaygroundPage } from '../support/playground-page.js';
import { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

test.each([
  { width: 1280, height: 720 },
  { width: 390, height: 844 },
])('the headline, the chart, all buttons and the result are on one screen at $width × $height', async (viewport) => {
  const { page } = await openPage(server.url);
  await page.setViewportSize(viewport);
  for (const element of await page.locator('h1, #verdict, #chart, .buttons button, #result').all()) {
    const { x, y, width, height } = (await element.boundingBox())!;
    expect(Math.min(x, y, width, height)).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(viewport.width);
    expect(y + height).toBeLessThanOrEqual(viewport.height);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('the legend and the chart are visible with forced colors', async () => {
  const { page } = await openPage(server.url, { forcedColors: 'active' });
  const seen = await page.evaluate<string[]>(`(() => {
    const style = (selector) => getComputedStyle(document.querySelector(selector));
    return [
      style('.stage').backgroundColor,
      style('.legend .allowed').fill,
      style('.legend .beyond').fill,
      style('.legend .rejected').stroke,
      style('.legend .planned').stroke,
    ];
  })()`);
  const [ground, ...marks] = seen;
  expect(marks).not.toContain(ground);
  expect(marks).not.toContain('none');
});

test('all algorithms are rows on demand, each with all requests', async () => {
  await server.begin({ limit: 20, windowMs: 60_000 });
  const page = await openPage(`${server.url}?rows=all`);
  for (let hit = 0; hit < 6; hit++) await server.hit();
  const counts = async () =>
    Object.values(await page.rows()).map(
      ({ allowed, beyond, rejected, waiting }) => allowed + beyond + rejected + waiting,
    );
  await until('all rows have all requests', async () => JSON.stringify(await counts()) === '[6,6,6,6,6,6,6]');
  await page.page.getByRole('checkbox', { name: 'All algorithms' }).uncheck();
  await until('two rows are left', async () => (await counts()).length === 2);
  await page.becomes('the link shows it', `!location.search.includes('rows')`);
});

describe('by itself', () => {
  let own: Server;
  beforeAll(async () => {
    own = await Server.start();
  });
  afterAll(() => own.end());
  const runOf = async () => (await own.update()).run;
  const isAttackPlanned = ({ page }: PlaygroundPage) => page.evaluate(`document.body.dataset.connected === 'true'`);

  test('with reduced motion, nothing starts', async () => {
    const page = await openPage(own.url);
    // The page tries twice a second, so it would have started one by then.
    await page.becomes('a second has passed', 'performance.now() > 1500');
    expect(await isAttackPlanned(page)).toBe(true);
    expect(await runOf()).toBeUndefined();
    await page.page.goto('about:blank');
  });

  test('the attack begins soon, its result stays, and a visitor who acts ends it', async () => {
    const page = await openPage(`${own.url}?scenario=boundary`, { reducedMotion: 'no-preference' });
    await page.shows('#begins', /^It begins in [01]\.\d s\.$/);
    await page.page.emulateMedia({ reducedMotion: 'reduce' }); // Sixty frames per second are for the start only.
    // On a busy machine, some of the first ten requests come after the boundary of the fixed window.
    await page.shows('#verdict', /^Most allowed in any 10 s so far: rolling window 10 ✓, fixed window \d+ [✓✗]/);
    await page.shows('#result', /^The rolling window allowed 10 of 20 .* The fixed window allowed \d+ /);
    expect(await own.attempts()).toHaveLength(20);
    expect(await runOf()).toMatchObject({ isAuto: true, status: 'done' });
    await page.press('Send a request');
    await until('it is recorded', async () => (await own.attempts()).length === 21);
    expect((await own.update()).hasUserActed).toBe(true);
    const response = await fetch(`${own.url}/run/boundary?auto=true`, { method: 'POST' });
    expect(response.status).toBe(202);
    expect(await runOf()).toMatchObject({ id: expect.stringMatching(/^boundary-\w+-1$/), status: 'done' });
  });
});

describe('the tour', () => {
  let own: Server;
  beforeAll(async () => {
    own = await Server.start();
  });
  afterAll(() => own.end());

  test('shows three scenes by itself, each on an empty chart, and a request ends it', async () => {
    const page = await openPage(own.url, { reducedMotion: 'no-preference' });
    await page.shows('#scenes [aria-pressed="true"]', '1. Fill the limit');
    await page.shows(
      '#caption',
      'The limit is 10 requests in 10 s. The first 10 are allowed, the rest will be rejected.',
    );
    await page.shows('#scenes [aria-pressed="true"]', '2. Boundary attack');
    await until('all of the attack are decided', async () => (await own.attempts()).length === 20);
    expect((await own.attempts()).every(({ run }) => run?.startsWith('boundary-'))).toBe(true);
    await page.shows('#scenes [aria-pressed="true"]', '3. Watch it roll');
    await page.shows(
      '#caption',
      'All limits start over. Each request that leaves the shaded window makes room for a new one.',
    );
    await page.page.emulateMedia({ reducedMotion: 'reduce' });
    await page.press('Send a request');
    await until('the scene has ended', async () => (await own.update()).run?.status === 'stopped');
  });

  test('a scene starts over when the user chooses it', async () => {
    const page = await openPage(own.url);
    await page.press('1. Fill the limit');
    await page.done();
    const attempts = (await own.attempts()).filter(({ run }) => run?.startsWith('fill-'));
    expect(attempts.map(({ allowed }) => allowed)).toEqual([...Array(10).fill(true), ...Array(3).fill(false)]);
  });
});

test('a scenario that does not exist is not found', async () => {
  const response = await fetch(`${server.url}/run/constructor`, { method: 'POST' });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    detail: 'Expected a scenario (boundary, first, burst, steady, hammer, fill, roll), got "constructor"',
  });
});
