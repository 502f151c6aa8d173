import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rateLimit } from '@rollgate/node';

test.each([
  ['decides at once', () => 'ann'],
  ['takes time', async () => 'ann'],
])('code that awaits the middleware continues after its decision: a key that %s', async (_, key) => {
  const { middleware } = rateLimit({ limit: 2, window: '1m', key });
  const log: unknown[] = [];
  const server = createServer(async (request, response) => {
    const isFirst = log.length === 0;
    try {
      await middleware(request, response, () => {
        if (isFirst) throw new Error('the next handler failed');
      });
      log.push(response.writableEnded ? 'rejected' : 'continued');
    } catch (error) {
      log.push(error);
    }
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (const _turn of [1, 2, 3]) await (await fetch(`http://127.0.0.1:${port}/`)).text();
  server.closeAllConnections();
  server.close();
  expect(log).toEqual([new Error('the next handler failed'), 'continued', 'rejected']);
});

test.each([
  ['decides at once', () => 'ann'],
  ['takes time', async () => 'ann'],
])('the middleware returns a promise that resolves after `next` or the rejection: a key that %s', async (_, key) => {
  const { middleware } = rateLimit({ limit: 1, window: '1m', key });
  const log: unknown[] = [];
  const server = createServer((request, response) => {
    const next = () => void log.push('next');
    middleware(request, response, next).then((value) => {
      log.push([value, response.writableEnded]);
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (const _turn of [1, 2]) await (await fetch(`http://127.0.0.1:${port}/`)).text();
  server.closeAllConnections();
  server.close();
  expect(log).toEqual(['next', [undefined, false], [undefined, true]]);
});
