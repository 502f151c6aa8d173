import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { rateLimit, rollingWindow } from '@rollgate/hono';
import { Hono } from 'hono';

const limited = () => rateLimit({ limit: 1, window: '1m', key: () => 'ann', headers: 'all' });

/** Serves the app on Node, and requests these paths one after the other. */
async function request(app: Hono<{ Bindings: HttpBindings }>, ...paths: string[]): Promise<Response[]> {
  const server = createAdaptorServer({ fetch: app.fetch });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const responses: Response[] = [];
  try {
    for (const path of paths) responses.push(await fetch(`http://127.0.0.1:${port}${path}`));
  } finally {
    server.close();
  }
  return responses;
}

test('a response that the handler writes to Node itself has the headers', async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(limited());
  app.get('/', ({ env: { outgoing } }) => {
    outgoing.writeHead(200, { 'content-type': 'text/plain' }).end('written');
    return RESPONSE_ALREADY_SENT;
  });
  const [response] = await request(app, '/');
  expect(await response!.text()).toBe('written');
  expect(response!.headers.get('x-ratelimit-remaining')).toBe('0');
});

test('a response that has started before the limiter ran stays as it is', async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(async ({ env: { outgoing } }, next) => {
    outgoing.writeHead(200).write('early, ');
    await next();
  });
  app.use(limited());
  app.get('/', ({ env: { outgoing } }) => {
    outgoing.end('late');
    return RESPONSE_ALREADY_SENT;
  });
  const [response] = await request(app, '/');
  expect(await response!.text()).toBe('early, late');
  expect(response!.headers.get('x-ratelimit-remaining')).toBeNull();
});

test('the response to an error has the headers', async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(limited());
  app.get('/', () => {
    throw new Error('the route fails');
  });
  app.onError((_error, c) => c.text('sorry', 500));
  const [response] = await request(app, '/');
  expect(response!.status).toBe(500);
  expect(response!.headers.get('x-ratelimit-remaining')).toBe('0');
});

test('a rejection by the second of two limiters has the policies of both', async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(
    rateLimit({ limits: { hour: rollingWindow({ limit: 100, window: '1h' }) }, key: () => 'ann', headers: 'all' }),
  );
  app.use(limited());
  app.get('/', (c) => c.text('hello'));
  const [, rejected] = await request(app, '/', '/');
  expect(rejected!.status).toBe(429);
  expect(rejected!.headers.get('ratelimit-policy')).toMatch(/"hour";q=100.*, .*q=1/);
  expect(rejected!.headers.get('x-ratelimit-limit')).toBe('1');
});

test("bindings of another platform with the names of Node's are not responses", async () => {
  const app = new Hono();
  app.use(limited());
  app.get('/', (c) => c.text('hello'));
  const bindings = { incoming: 'a queue', outgoing: { req: undefined, headersSent: false } };
  const response = await app.request('/', {}, bindings);
  expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
});
