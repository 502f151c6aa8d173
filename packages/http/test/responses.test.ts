import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { concurrency, rollingWindow } from '@rollgate/core';
import { storeWith } from '@rollgate/host-tests/test-stores';
import { type Rejection, renderRejection } from '@rollgate/http';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { createGate, createHost, limitedHost, type TestRequest } from './support/fake-host.js';
import { limitWith, type Response, raw, type ServerParts, serve } from './support/node-host.js';

const TYPE = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const TITLE = 'Request cannot be satisfied as assigned quota has been exceeded';
const usual = {
  type: TYPE,
  title: TITLE,
  status: 429,
  detail: 'Rate limit exceeded: try again in 60 seconds',
  'violated-policies': ['default'],
};

describe('problem details', () => {
  const reject = async (options: object, accept = '*/*') => {
    const { send } = limitedHost({ limit: 1, window: '1m', problem: true, ...options });
    await send();
    const { type, headers, status, body } = await send({ path: '/', headers: { accept } });
    expect([type, headers.get('retry-after')]).toEqual(['application/problem+json', '60']);
    return { status, body: JSON.parse(body!) as Record<string, unknown> };
  };

  test.each([
    ['nothing of its own', {}, usual],
    ['a text', { message: 'Not so fast' }, { ...usual, detail: 'Not so fast' }],
    ['an object', { message: { balance: 5 } }, { ...usual, balance: 5 }],
    [
      'another type',
      { message: { type: 'about:blank', detail: 'no' } },
      { ...usual, type: 'about:blank', detail: 'no' },
    ],
    ['a function’s text', { message: ({ path }: TestRequest) => `No ${path}` }, { ...usual, detail: 'No /' }],
    ['a function’s object', { message: async () => ({ balance: 5 }) }, { ...usual, balance: 5 }],
    ['another status', { statusCode: 503 }, { ...usual, status: 503 }],
    [
      'formats',
      { message: { text: 'Not so fast', html: '<p>', json: { balance: 5 } } },
      { ...usual, detail: 'Not so fast', balance: 5 },
    ],
  ])('describe a rejection, with %s', async (_, options, body) => {
    expect(await reject(options)).toEqual({ status: body.status, body });
  });

  test.each(['text/plain', 'text/html', 'application/json', 'application/problem+json'])(
    'are sent even to a client that accepts %s',
    async (accept) => {
      expect((await reject({ message: 'Not so fast' }, accept)).body.type).toBe(TYPE);
    },
  );

  test('are not sent to a client that prefers the HTML of a message', async () => {
    const message = { html: '<p>Slow down</p>' };
    const { send } = limitedHost({ limit: 1, window: '1m', problem: true, message });
    await send();
    const page = await send({ headers: { accept: 'text/html, */*;q=0.1' } });
    expect([page.type, page.body]).toEqual(['text/html; charset=utf-8', message.html]);
    expect((await send({ headers: { accept: 'text/plain' } })).type).toBe('application/problem+json');
  });

  test('name the violated limits', async () => {
    const limits = Object.fromEntries(
      Object.entries({ burst: 1, hourly: 1, daily: 5 }).map(([name, limit]) => [
        name,
        rollingWindow({ limit, window: '1m' }),
      ]),
    );
    const options = { limits, limit: undefined, window: undefined };
    expect((await reject(options)).body['violated-policies']).toEqual(['burst', 'hourly']);
  });

  test.each([429, 503])('call slots that are taken a reduced capacity, with status %d', async (statusCode) => {
    const limits = { rate: rollingWindow({ limit: 9, window: '1m' }), slots: concurrency({ limit: 1, lease: '30s' }) };
    const gate = createGate({ limits, problem: true, statusCode, key: () => 'ann' });
    await gate.limiter.check('ann');
    const { status, body } = await createHost(gate).send();
    expect([status, JSON.parse(body!)]).toEqual([
      statusCode,
      {
        ...usual,
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        title: 'Request cannot be satisfied due to temporary server capacity constraints',
        status: statusCode,
        detail: 'Rate limit exceeded: try again in 1 second',
        'violated-policies': ['slots'],
      },
    ]);
  });
});

describe('renderRejection', () => {
  const JSON_TYPE = 'application/json; charset=utf-8';

  const text: Rejection = { status: 429, text: 'Slow down' };

  test.each([
    [undefined],
    ['*/*'],
    ['application/json'],
    ['text/plain, application/json'],
    ['text/plain;q=0.5, application/json'],
    ['text/html'],
  ])('text is JSON for a client that accepts %s', (accept) => {
    const { status, type, body } = renderRejection(text, accept);
    expect([status, type]).toEqual([429, JSON_TYPE]);
    expect(JSON.parse(body)).toEqual({
      statusCode: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'Too Many Requests',
      message: 'Slow down',
    });
  });

  test.each([['text/plain'], ['text/plain, application/json;q=0.5'], ['text/plain, */*']])(
    'text is plain for a client that accepts %s',
    (accept) => {
      expect(renderRejection(text, accept)).toEqual({
        status: 429,
        type: 'text/plain; charset=utf-8',
        body: 'Slow down\n',
      });
    },
  );

  test('a body stays as it is', () => {
    const rejection: Rejection = { status: 503, body: '{"oh":"no"}', type: 'application/problem+json' };
    expect(renderRejection(rejection, 'text/plain')).toEqual({
      status: 503,
      type: 'application/problem+json',
      body: '{"oh":"no"}',
    });
  });

  test.each([
    [{}, 429],
    [{ status: 403 }, 403],
    [{ statusCode: 503 }, 503],
    [{ status: 200 }, 429],
  ])('an error with the members %o has its own status if that is one of an error', (members, expected) => {
    const error = Object.assign(new Error('Used up'), members);
    const { status, body } = renderRejection({ status: 429, error });
    expect(status).toBe(expected);
    expect(JSON.parse(body)).toMatchObject({ statusCode: expected, message: 'Used up' });
  });

  test('messages and statuses may alternate', () => {
    const renderings: Rejection[] = [text, { status: 503, text: 'Slow down' }, { status: 503, text: 'Used up' }, text];
    const bodies = renderings.map((rejection) => JSON.parse(renderRejection(rejection).body));
    expect(bodies.map(({ statusCode, message }) => [statusCode, message])).toEqual([
      [429, 'Slow down'],
      [503, 'Slow down'],
      [503, 'Used up'],
      [429, 'Slow down'],
    ]);
  });
});

describe('responses of Node', () => {
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

  test.each([
    ['once', 1, {}],
    ['always', Infinity, {}],
    ['once, with an async key', 1, { key: () => later('ann') }],
    ['always, with an async key', Infinity, { key: () => later('ann') }],
  ])('a response that refuses a listener fails, and frees its slot: %s', async (_, times, options) => {
    let refused = 0;
    const { send, passed, errors } = await serve(
      [limitWith({ limits: concurrency({ limit: 1, lease: '1m' }), ...options })],
      {
        before(request, response) {
          const { on } = response;
          if (request.url === '/refusing')
            response.on = response.once = (...args) => {
              if (refused++ < times) throw new Error('no listener');
              return on.apply(response, args);
            };
        },
      },
    );
    const refusing = await send('/refusing');
    expect([refusing.status, await refusing.text()]).toEqual([500, 'Error: no listener']);
    expect((await send('/')).status).toBe(200);
    expect([passed.length, errors.length]).toEqual([1, 1]);
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
});
