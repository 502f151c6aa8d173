import { rateLimit } from '@rollgate/hono';
import { Hono } from 'hono';

const clientOf = (request: Request) => request.headers.get('x-client') ?? 'anonymous';
const createRequest = (client: string) => new Request('http://host/', { headers: { 'x-client': client } });

/** A Hono app that rejects each client's second request with the error. */
function createApp(message: Error): Hono {
  const app = new Hono();
  app.use(rateLimit({ limit: 1, window: '1h', key: (c) => clientOf(c.req.raw), message }));
  app.get('/', (c) => c.text('hello'));
  return app;
}

test("Hono's own error handler responds with the rejection", async () => {
  const app = createApp(new Error('Used up'));
  await app.request(createRequest('ann'));
  const rejected = await app.request(createRequest('ann'));
  expect([rejected.status, await rejected.text()]).toEqual([429, 'Used up']);
  expect(rejected.headers.get('retry-after')).toBe('3600');
  expect(rejected.headers.get('content-type')).toMatch(/^text\/plain/);
});

test('an error handler of a Hono app gets the error, and its response has the headers', async () => {
  const error = new Error('Used up');
  const app = createApp(error);
  const handled: Error[] = [];
  app.onError((thrown, c) => {
    handled.push(thrown);
    return c.json({ oh: 'no' }, 418);
  });
  await app.request(createRequest('ann'));
  const rejected = await app.request(createRequest('ann'));
  expect(handled).toEqual([error]);
  expect([rejected.status, await rejected.json()]).toEqual([418, { oh: 'no' }]);
  expect(rejected.headers.get('retry-after')).toBe('3600');
});
