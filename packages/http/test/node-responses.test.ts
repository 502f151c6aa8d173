import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { storeWith } from '@rollgate/host-tests/test-stores';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { limitWith, type Response, raw, type ServerParts, serve } from './support/node-host.js';

silenceOutages();

const once = { limit: 1, window: '1h' };
const later = async <Value>(value: Value): Promise<Value> => value;
const endOf = async (reply: Promise<globalThis.Response>) => (await reply).text();

/** Writes the headers and the first part of a body with a length before the limiter runs. */
const PROMISING: ServerParts = {
  before: (_request, response) => void response.writeHead(200, { 'Content-Length': 4 }).write('ab'),
  handler: (_request, response) => response.end('cd'),
};
const STREAMING: ServerParts = {
  before(_request, response) {
    response.setHeader('Content-Type', 'text/event-stream');
    response.write('data: hello\n\n');
  },
  handler: (_request, response) => response.end('data: allowed\n\n'),
};

test.each([
  ['a store in memory', () => ({})],
  ['a store that responds later', () => ({ store: storeWith({}) })],
  ['an async key', () => ({ key: () => later('ann') })],
  ['an async skip', () => ({ skip: () => later(false) })],
  ['an async onLimited', () => ({ onLimited: () => later(undefined) })],
  ['an async message', () => ({ message: () => later('stop') })],
  ['all headers', () => ({ headers: 'all', exposeHeaders: true })],
])('a started response continues when allowed and ends when rejected, with %s', async (_, options) => {
  const { send, errors, passed } = await serve([limitWith({ ...once, ...options() })], STREAMING);
  const allowed = await send();
  expect(await allowed.text()).toBe('data: hello\n\ndata: allowed\n\n');
  expect(allowed.headers.has('x-ratelimit-limit')).toBe(false);
  expect(await endOf(send())).toBe('data: hello\n\n');
  expect([passed.length, errors]).toEqual([1, []]);
});

test('a started response does so over HTTP/2, too', async () => {
  const { port } = await serve([limitWith(once)], { ...STREAMING, isHttp2: true });
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  expect(await text(session.request({ ':path': '/' }))).toBe('data: hello\n\ndata: allowed\n\n');
  expect(await text(session.request({ ':path': '/' }))).toBe('data: hello\n\n');
  session.destroy();
});

test('a started response is cut off when it has promised a Content-Length', async () => {
  const { send } = await serve([limitWith(once)], PROMISING);
  expect(await endOf(send())).toBe('abcd');
  await expect(endOf(send())).rejects.toThrow();
});

test('a started response contains no bytes of the next one on its connection', async () => {
  const { open } = await serve([limitWith(once)], PROMISING);
  const socket = open();
  socket.write(raw('/') + raw('/') + raw('/', 'Connection: close\r\n'));
  const [, allowed, rejected, ...more] = (await text(socket)).split('HTTP/1.1 200 OK');
  expect(allowed).toMatch(/\r\n\r\nabcd$/);
  expect(rejected ?? '').not.toMatch(/\r\n\r\nab.+$/);
  expect(more).toEqual([]);
});

test('a started response is complete for an HTTP/1.0 client, which does not support chunks', async () => {
  const { open } = await serve([limitWith(once)], {
    before: (_request, response) => void response.write('hello'),
    handler: (_request, response) => response.end(' world'),
  });
  const bodies: (string | undefined)[] = [];
  for (let request = 0; request < 2; request++) {
    const socket = open();
    socket.write('GET / HTTP/1.0\r\n\r\n');
    bodies.push((await text(socket)).split('\r\n\r\n')[1]);
  }
  expect(bodies).toEqual(['hello world', 'hello']);
});

test('a response that an async `onLimited` sends stays as it is', async () => {
  const responses: Response[] = [];
  const { statuses, errors } = await serve(
    [limitWith({ ...once, onLimited: async () => void responses.at(-1)!.writeHead(418).end('no') })],
    { before: (_request, response) => void responses.push(response) },
  );
  expect(await statuses('/', '/', '/')).toEqual([200, 418, 418]);
  expect(errors).toEqual([]);
});

test('a redirection has no draft headers, however it starts and however many limiters wrote them', async () => {
  const hooks = new Set<unknown>();
  let response: Response;
  const limits = [1, 2, 3].map(() =>
    limitWith(
      { limit: 2, window: '1m', headers: 'all' },
      {
        attachDecision: () => void hooks.add(response.writeHead),
        sendRejection() {
          hooks.add(response.writeHead);
          response.statusCode = 302;
          response.setHeader('Location', '/slow');
          response.end();
        },
      },
    ),
  );
  const { send } = await serve(limits, {
    before(_request, current) {
      response = current;
      response.setHeader('RateLimit', '"other";r=1');
    },
    handler() {
      hooks.add(response.writeHead);
      response.writeHead(303, { Location: '/' }).end();
    },
  });
  for (const status of [303, 303, 302]) {
    const reply = await send('/', { redirect: 'manual' });
    expect(reply.status).toBe(status);
    expect([...reply.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    expect(reply.headers.get('x-ratelimit-limit')).toBe('2');
  }
  expect(hooks.size).toBe(1 + 3); // Node's own, and one for each response, however many limiters it has passed.
});

test('a failed request does not affect those behind it in a pipeline', async () => {
  const key = ({ url }: { url: string }) => (url === '/bad' ? Promise.reject(new Error('no session')) : url);
  const { open } = await serve([limitWith({ ...once, key })]);
  const socket = open();
  socket.write(raw('/bad') + raw('/a') + raw('/a') + raw('/b', 'Connection: close\r\n'));
  expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(
    [500, 200, 429, 200].map((status) => `HTTP/1.1 ${status}`),
  );
});
