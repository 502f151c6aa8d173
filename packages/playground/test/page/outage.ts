import { once } from 'node:events';
import { createServer } from 'node:http';
import { expected, openPage } from '../support/browser.js';
import { Server } from '../support/server.js';

let server: Server;
/** Each test leaves a server that runs, but for the last one. */
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());
beforeEach(() => server.begin({}));

test('the page reports that its server was killed, and recovers when it starts again', async () => {
  const page = await openPage(server.url);
  await page.press('Burst');
  await page.done();
  const banner = page.page.locator('#banner');
  expect(await banner.isVisible()).toBe(false);

  await server.end('SIGKILL');
  await banner.waitFor({ state: 'visible' });
  expect(await banner.textContent()).toContain('The server does not respond');
  await page.press('Send a request');
  await page.shows('#traffic', 'The server does not respond.');
  await page.press('Delete everything');
  await page.shows('#traffic', 'The reset failed. The server does not respond.');

  server = await server.restarted();
  await banner.waitFor({ state: 'hidden' });
  // It was all in the memory of the one that was killed.
  await page.draws({ allowed: 0, rejected: 0, fixedAllowed: 0, fixedRejected: 0 });
  await page.press('Burst');
  await page.done();
  expect(await page.text('#traffic')).toBe('Done: 10 allowed, 5 rejected.');
  await page.draws(expected(await server.attempts()));
  expect(page.errors).toEqual([]);
});

test('a setting that the server did not get is not shown as current', async () => {
  const page = await openPage(server.url);
  await server.end();
  await page.page.locator('#banner').waitFor({ state: 'visible' });
  const slider = page.page.getByRole('slider', { name: 'Limit' });
  await slider.fill('33');
  await page.shows('#settings-problem', 'Not changed. The server does not respond.');
  server = await server.restarted();
  await page.page.locator('#banner').waitFor({ state: 'hidden' });
  await page.shows('output[for="limit"]', '10');
  expect(await slider.inputValue()).toBe('10');
});

test('a server that is silent without a word is noticed, and nothing is missed or drawn twice when it is back', async () => {
  const page = await openPage(server.url);
  await page.press('Burst');
  await page.done();
  server.signal('SIGSTOP');
  try {
    await page.page.locator('#banner').waitFor({ state: 'visible' });
  } finally {
    server.signal('SIGCONT');
  }
  await page.page.locator('#banner').waitFor({ state: 'hidden' });
  await server.hit();
  await page.draws(expected(await server.attempts()));
});

test('the page reports an error of a proxy in front of the server', async () => {
  const page = await openPage(server.url);
  await server.end();
  const gateway = createServer((_request, response) => response.writeHead(503).end('No server'));
  gateway.listen(Number(new URL(server.url).port), '127.0.0.1');
  await once(gateway, 'listening');
  try {
    await page.press('Send a request');
    await page.shows('#traffic', 'The server returned 503 Service Unavailable.');
    await page.press('Delete everything');
    await page.shows('#traffic', 'The reset failed. The server returned 503 Service Unavailable.');
  } finally {
    gateway.close();
    gateway.closeAllConnections();
  }
});
