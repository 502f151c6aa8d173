import { until } from '@rollgate/test-support';
import type { Attempt } from '../../src/shared/protocol.js';
import { showPage } from '../support/browser.js';
import { expected } from '../support/playground-page.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});

const allowed = (attempts: readonly Attempt[]) => attempts.filter(({ allowed }) => allowed);

const NO_RESPONSE = 'None yet. This panel shows what a client gets.';

/** By hand: no more than `limit` of these moments lie inside any window. */
function staysWithin(moments: readonly number[], limit: number, windowMs: number): boolean {
  return moments.every((moment, index) => (moments[index + limit] ?? Infinity) - moment > windowMs - 1);
}

test('"Send a request" sends one, and shows the headers of its response', async () => {
  const page = await showPage(server, { limit: 1, windowMs: 60_000 });
  await page.press('Send a request');
  await page.shows('#status', '200 OK, allowed');
  const fields = page.page.locator('#fields');
  expect(await fields.locator('dt').allTextContents()).toEqual([
    ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'],
  ]);
  expect((await fields.locator('dd').allTextContents()).slice(0, 2)).toEqual(['1', '0']);
  await page.shows('#result', 'Allowed: number 1 of 1 in 60 s.');
  await page.press('Send a request');
  await page.shows('#status', '429 Too Many Requests, rejected');
  await page.shows('#traffic', 'The last request was rejected.');
  await page.shows('#result', /^Rejected: 1 in the 60 s before\. The oldest expires [56]\d(\.\d)? s later\.$/);
  expect(await fields.locator('dt').first().textContent()).toBe('Retry-After');
  expect(Number(await fields.locator('dd').first().textContent())).toBeGreaterThan(50);
  expect(await server.attempts()).toHaveLength(2);
  await page.press('Start over');
  await page.shows('#status', NO_RESPONSE);
  expect(await fields.locator('dt').count()).toBe(0);
});

test('"Burst" sends the limit and five more at once', async () => {
  const page = await showPage(server, { limit: 7, windowMs: 60_000 });
  await page.press('Burst');
  await page.done();
  expect(await page.text('#traffic')).toBe('Done: 7 allowed, 5 rejected.');
  const attempts = await server.attempts();
  expect(attempts.map(({ allowed }) => allowed)).toEqual([...Array(7).fill(true), ...Array(5).fill(false)]);
  await page.draws(expected(attempts));
});

test('"Steady" sends as many as are allowed for two windows, and none is rejected', async () => {
  const page = await showPage(server, { limit: 4, windowMs: 2000 });
  await page.press('Steady');
  await page.done();
  expect(await page.text('#traffic')).toBe('Done: 8 allowed, 0 rejected.');
  // The window is exact, so eight requests without a pause of a window between them would not all be allowed.
  expect(await server.attempts()).toHaveLength(8);
});

test('"Boundary attack": the fixed window allows twice the limit within a moment, and Rollgate does not', async () => {
  const page = await showPage(server, { limit: 5, windowMs: 60_000 });
  // The attack begins one second before the window ends; until then the page counts down, also on a busy machine.
  await server.skip(60_000 - ((await server.now()) % 60_000) - 4500);
  await page.press('Boundary attack');
  await page.shows(
    '#result',
    "Boundary attack: 5 requests 1 s before the fixed window's counter restarts, and 5 more the same time after.",
  );
  const left = async () => Number(/in (\d+\.\d) s/.exec(await page.text('#begins'))?.[1]);
  const first = await left();
  // On a busy machine, the attack may have begun already. Then there is no number.
  await until('the page counts down', async () => !((await left()) >= first));
  await page.done();
  const attempts = await server.attempts();
  const boundaryMs = Math.floor(attempts[5]!.atMs / 60_000) * 60_000;
  expect(attempts.map(({ atMs }) => atMs < boundaryMs)).toEqual([...Array(5).fill(true), ...Array(5).fill(false)]);
  expect(attempts.every(({ delays }) => delays.fixed === 0)).toBe(true);
  expect(attempts.map(({ allowed }) => allowed)).toEqual([...Array(5).fill(true), ...Array(5).fill(false)]);
  await page.draws({ allowed: 5, rejected: 5, fixedAllowed: 10, fixedRejected: 0 });
  expect((await page.rows()).fixed).toMatchObject({ allowed: 5, beyond: 5 });
  await page.shows(
    '#verdict',
    'Most allowed in any 60 s so far: rolling window 5 ✓, fixed window 10 ✗ (2 × the limit)',
  );
  await page.shows(
    '#result',
    /^The rolling window allowed 5 of 10 requests, because .* The fixed window allowed 10 within [12](\.\d)? s, 2 × the limit, because its counter restarted between them\.$/,
  );
  expect(await page.text('#status')).toMatch(/ (OK, allowed|Requests, rejected)$/);
  expect(await page.brackets()).toEqual([expect.stringMatching(/^10 within [12](\.\d)? s$/)]);

  // The next boundary is most of a minute away, so the next attack waits.
  await page.press('Boundary attack');
  await page.shows('#status', NO_RESPONSE);
  await page.shows('#result', /^Boundary attack: 5 requests 1 s before/);
  expect(await page.text('#traffic')).toBe('');
  expect(await page.brackets()).toEqual([]);
  await page.press('Stop');
  await page.done('Stopped');
});

test('"First-request attack": a window that starts with the first request allows twice the limit less one', async () => {
  const page = await showPage(server, { limit: 5, windowMs: 2000 });
  await page.press('First-request attack');
  await page.shows(
    '#result',
    'First-request attack: 1 request, 4 more 1.6 s later, and 5 more 2.4 s after the first one.',
  );
  await page.done();
  await page.shows(
    '#result',
    /^The rolling window allowed \d of 10 requests, because .* The fixed window from the first request allowed 9 within \d(\.\d)? s, 1\.8 × the limit, because/,
  );
  expect((await page.rows()).first).toMatchObject({ beyond: 4, rejected: 0 });
});

test('an attack on a used limit starts over, so that its result is clear, and the earlier requests stay visible', async () => {
  const page = await showPage(server, { limit: 5, windowMs: 60_000 });
  await page.press('Burst');
  await page.done();
  await server.skip(60_000 - ((await server.now()) % 60_000) - 3500);
  await page.press('Boundary attack');
  await page.shows(
    '#verdict',
    'Most allowed in any 60 s so far: rolling window 5 ✓, fixed window 10 ✗ (2 × the limit)',
  );
  await page.done();
  expect((await server.attempts()).slice(10).map(({ allowed }) => allowed)).toEqual([
    ...[...Array(5).fill(true), ...Array(5).fill(false)],
  ]);
});

test('"Hammer" sends twenty a second for five seconds, and no window holds more than the limit', async () => {
  const page = await showPage(server, { limit: 3, windowMs: 2000 });
  await page.press('Hammer');
  await page.done();
  const attempts = await server.attempts();
  expect(attempts).toHaveLength(100);
  const moments = allowed(attempts).map(({ atMs }) => atMs);
  expect(moments.length).toBeGreaterThanOrEqual(6);
  expect(staysWithin(moments, 3, 2000)).toBe(true);
  expect(await page.text('#traffic')).toBe(`Done: ${moments.length} allowed, ${100 - moments.length} rejected.`);
});

test('"Stop" ends the current pattern, and so does another button', async () => {
  const page = await showPage(server, { limit: 3, windowMs: 60_000 });
  const stop = page.page.getByRole('button', { name: 'Stop' });
  expect(await stop.isDisabled()).toBe(true);
  await page.press('Hammer');
  await until('some are sent', async () => (await server.attempts()).length > 3);
  await stop.click();
  await page.done('Stopped');
  expect(await stop.isDisabled()).toBe(true);
  const { length } = await server.attempts();
  expect(length).toBeLessThan(100);

  await page.press('Boundary attack');
  await page.press('Burst');
  await page.done();
  expect(await server.attempts()).toHaveLength(length + 8);
});

test('"Stop" cancels requests that wait for their start: its summary is correct', async () => {
  const page = await showPage(server, { algorithm: 'leaky', limit: 20, windowMs: 60_000 });
  await page.press('Hammer');
  await until('some are delayed', async () => (await server.attempts()).length > 3);
  await page.press('Stop');
  await page.done('Stopped');
  const summary = /^Stopped: (\d+) allowed, (\d+) rejected, \d+ canceled\.$/.exec(await page.text('#traffic'));
  const [allowedThen, rejected] = summary!.slice(1).map(Number);
  await until(
    'the server has dropped the canceled requests',
    async () => (await server.records()).allowed === allowedThen,
  );
  expect((await server.records()).rejected).toBe(rejected);
});

test('"Start over" cancels requests in flight first', async () => {
  const page = await showPage(server, { algorithm: 'leaky', limit: 20, windowMs: 10_000 });
  await page.press('Burst');
  // A busy server may read the rest of them after it has deleted everything.
  await until('all are decided, and most of them are delayed', async () => (await server.attempts()).length === 25);
  await page.press('Start over');
  await page.shows('#traffic', 'All requests are deleted, and every limit is full again.');
  await page.press('Send a request');
  await until('it is decided', async () => (await server.attempts()).length > 0);
  expect(await server.attempts()).toHaveLength(1);
});

test('the server sends scenarios, so a queue holds as many requests as it has room for', async () => {
  const page = await showPage(server, { algorithm: 'leaky', limit: 20, windowMs: 60_000 });
  await page.press('Burst');
  await until('all are decided', async () => (await server.attempts()).length === 25);
  const waiting = (await server.attempts()).filter(({ delayMs }) => delayMs > 0);
  expect(waiting).toHaveLength(20); // One has started, and four are rejected.
  await until('the page shows those that wait', async () => ((await page.rows()).leaky?.waiting ?? 0) > 9);
  await page.press('Stop');
  await page.done('Stopped');
});

test('"Steady" stops when the limit changes', async () => {
  const page = await showPage(server, { limit: 10, windowMs: 5000 });
  await page.press('Steady');
  await until('some are sent', async () => (await server.attempts()).length > 2);
  await server.put({ algorithm: 'rolling', limit: 40, windowMs: 5000, minDifferenceMs: 0 });
  await page.done('Stopped');
  expect(await page.text('#traffic')).toMatch(/^Stopped: \d+ allowed, 0 rejected\. The limit has changed\.$/);
});

test('"Start over" starts over with an empty chart and the full limit', async () => {
  const page = await showPage(server, { limit: 2, windowMs: 60_000 });
  await page.press('Burst');
  await page.done();
  await page.press('Start over');
  await page.draws({ allowed: 0, rejected: 0, fixedAllowed: 0, fixedRejected: 0 });
  expect(await server.attempts()).toEqual([]);
  await page.shows('[data-row="rolling"] .count', '0 of 2');
  await page.shows('#countdown', 'now');
  await page.press('Burst');
  await page.done();
  expect(allowed(await server.attempts())).toHaveLength(2);
});
