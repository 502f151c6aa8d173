import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { EXPRESSES, limitWith, memory, serve, storeWith } from '@rollgate/host-tests/express-servers';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

silenceOutages();

const window = '1h';
const later = async <Value>(value: Value): Promise<Value> => value;
const OPTIONS: [string, { isLater?: boolean; [option: string]: unknown }][] = [
  ['a store in memory', {}],
  ['a store that responds later', { isLater: true }],
  ['an async key', { key: () => later('ann') }],
  ['an async skip', { skip: () => later(false) }],
  ['an async onLimited', { onLimited: () => later(undefined) }],
  ['an async message', { message: () => later('stop') }],
  ['a handler', { handler: (_: unknown, response: { send(body: string): void }) => response.send('stop') }],
  ['all headers', { headers: 'all', exposeHeaders: true }],
];

describe.each(EXPRESSES)('a response that has started before the limiter, in Express %s', (_, express) => {
  test.each(OPTIONS)('continues when allowed and ends when rejected, with %s', async (_, { isLater, ...options }) => {
    const store = isLater ? storeWith({}) : memory();
    const limit = limitWith({ limit: 1, window, store, ...options });
    const { send, errors, passed } = await serve(express, [limit], {
      before: [
        (_request, response, next) => {
          response.setHeader('Content-Type', 'text/event-stream');
          response.flushHeaders();
          response.write('data: hello\n\n');
          next();
        },
      ],
      handler: (_request, response) => void response.end('data: allowed\n\n'),
    });
    const allowed = await send();
    expect(await allowed.text()).toBe('data: hello\n\ndata: allowed\n\n');
    expect(allowed.headers.has('x-ratelimit-limit')).toBe(false);
    const rejected = await send();
    expect(await rejected.text()).toBe('data: hello\n\n');
    expect(passed).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  test('does not hang when an option fails', async () => {
    const key = async () => {
      throw new Error('no key');
    };
    const { send } = await serve(express, [limitWith({ limit: 1, window, key })], {
      before: [
        (_request, response, next) => {
          response.flushHeaders();
          next();
        },
      ],
    });
    await expect(send().then((reply) => reply.text())).rejects.toThrow();
  });

  test('is cut off when it has promised a Content-Length', async () => {
    const { send } = await serve(express, [limitWith({ limit: 1, window })], {
      before: [
        (_request, response, next) => {
          response.writeHead(200, { 'Content-Length': 4 }).write('ab');
          next();
        },
      ],
      handler: (_request, response) => void response.end('cd'),
    });
    expect(await (await send()).text()).toBe('abcd');
    await expect(send().then((reply) => reply.text())).rejects.toThrow();
  });

  test('contains no bytes of the next response on its connection, with headers from `writeHead` only', async () => {
    const { port } = await serve(express, [limitWith({ limit: 1, window })], {
      configure: (app) => app.disable('x-powered-by'),
      before: [
        (_request, response, next) => {
          response.writeHead(200, { 'Content-Length': 4 }).write('ab');
          next();
        },
      ],
      handler: (_request, response) => void response.end('cd'),
    });
    const socket = connect(port, '127.0.0.1');
    const get = 'GET / HTTP/1.1\r\nHost: a\r\n';
    socket.write(`${get}\r\n${get}\r\n${get}Connection: close\r\n\r\n`);
    const [, allowed, rejected, ...more] = (await text(socket)).split('HTTP/1.1 200 OK');
    expect(allowed).toMatch(/\r\n\r\nabcd$/);
    expect(rejected ?? '').not.toMatch(/\r\n\r\nab.+$/);
    expect(more).toEqual([]);
  });

  test('is complete for an HTTP/1.0 client, which does not support chunks', async () => {
    const { port } = await serve(express, [limitWith({ limit: 1, window })], {
      before: [
        (_request, response, next) => {
          response.write('hello');
          next();
        },
      ],
      handler: (_request, response) => void response.end(' world'),
    });
    const bodies: (string | undefined)[] = [];
    for (let request = 0; request < 2; request++) {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET / HTTP/1.0\r\n\r\n');
      bodies.push((await text(socket)).split('\r\n\r\n')[1]);
    }
    expect(bodies).toEqual(['hello world', 'hello']);
  });
});

describe.each(EXPRESSES)('a `message` that is an Error, in Express %s', (_, express) => {
  const teapot = Object.assign(new Error('no coffee'), { status: 418 });
  test.each([
    ['given', new Error('slow down'), 429],
    ['returned', () => new Error('slow down'), 429],
    ['promised', async () => new Error('slow down'), 429],
    ['with a status of its own', teapot, 418],
  ])('goes to the error handling with status and headers: %s', async (_, message, status) => {
    const seen: Error[] = [];
    const limit = limitWith({ limit: 1, window, message });
    const { port, passed } = await serve(express, [limit], { expressErrors: seen });
    const send = () => fetch(`http://127.0.0.1:${port}/`);
    await (await send()).text();
    const reply = await send();
    const body = await reply.text();
    expect([reply.status, body.includes('{}')]).toEqual([status, false]);
    expect(reply.headers.get('retry-after')).toBe('3600');
    expect(seen.map(({ message }) => message)).toEqual([status === 418 ? 'no coffee' : 'slow down']);
    expect(passed).toHaveLength(1);
  });
});
