import { once } from 'node:events';
import { createServer } from 'node:http';
import { openPage } from '../support/browser.js';
import { expected } from '../support/playground-page.js';
import { Server } from '../support/server.js';

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());
beforeEach(() => server.begin({}));

/** Runs `act` while a proxy on the port of the server responds that it is not there. */
async function withGateway(act: () => Promise<void>): Promise<void> {
  const gateway = createServer((_request, response) => response.writeHead(503).end('No server'));
  gateway.listen(Number(new URL(server.url).port), '127.0.0.1');
  await once(gateway, 'listening');
  try {
    await act();
  } finally {
    gateway.closeAllConnections();
    gateway.close();
    await once(gateway, 'close');
  }
}

test('the page reports that its server was killed, and recovers when it starts again', async () => {
  const page = await openPage(server.url);
  await page.press('Burst');
  await page.done();
  expect(await page.page.locator('#banner').isVisible()).toBe(false);

  await server.end('SIGKILL');
  await page.showsBanner(true);
  expect(await page.text('#banner')).toContain('The server does not respond');
  await page.press('Send a request');
  await page.shows('#traffic', 'The server does not respond.');
  await page.press('Start over');
  await page.shows('#traffic', 'The reset failed. The server does not respond.');
  const slider = page.page.getByRole('slider', { name: 'Limit' });
  await slider.fill('33');
  await page.shows('#settings-problem', 'Not changed. The server does not respond.');
  await withGateway(async () => {
    await page.press('Send a request');
    await page.shows('#traffic', 'The server returned 503 Service Unavailable.');
    await page.press('Start over');
    await page.shows('#traffic', 'The reset failed. The server returned 503 Service Unavailable.');
  });

  server = await server.restarted();
  await page.showsBanner(false);
  // All of it was in the memory of the killed server, which never received the setting.
  await page.draws({ allowed: 0, rejected: 0, fixedAllowed: 0, fixedRejected: 0 });
  await page.shows('output[for="limit"]', '10');
  expect(await slider.inputValue()).toBe('10');
  await page.press('Burst');
  await page.done();
  expect(await page.text('#traffic')).toBe('Done: 10 allowed, 5 rejected.');
  await page.draws(expected(await server.attempts()));
  expect(page.errors).toEqual([]);
});

test('the page detects a server that stops responding, and later draws each request once', async () => {
  const page = await openPage(server.url);
  await page.press('Burst');
  await page.done();
  server.signal('SIGSTOP');
  try {
    await page.showsBanner(true);
  } finally {
    server.signal('SIGCONT');
  }
  await page.showsBanner(false);
  await server.hit();
  await page.draws(expected(await server.attempts()));
});
