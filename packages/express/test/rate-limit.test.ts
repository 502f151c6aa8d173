import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { MemoryStore, rollingWindow, type Store } from '@rollgate/core';
import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { WARNING_CODES } from '@rollgate/http';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import express5, { type ErrorRequestHandler, type Express } from 'express';
import express4 from 'express4';
import request from 'supertest';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** Starts a real server on a free port of the loopback interface. */
async function listen(app: Express): Promise<Server> {
  const server = createServer(app);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** Returns the response to raw bytes on one connection. */
async function exchange(server: Server, bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

function raise(thrown: unknown): never {
  throw thrown;
}

/** A promise and the function that resolves it. */
function deferred<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

describe.each([
  ['5', express5],
  ['4', express4],
])('Express %s', (_, express) => {
  /** Creates an app with one route behind the limit, which sends its errors as JSON. */
  function createApp(options: Partial<RateLimitOptions>) {
    const errors: unknown[] = [];
    const app = express();
    const store = options.store ?? new MemoryStore({ clock });
    const middleware = rateLimit({ silence: WARNING_CODES, ...options, store } as RateLimitOptions);
    app.use(middleware);
    app.get('/', (request, response) => {
      response.json({ allowed: request.rateLimit?.allowed, remaining: request.rateLimit?.remaining });
    });
    const onError: ErrorRequestHandler = (error, _request, response, next) => {
      errors.push(error);
      if (response.headersSent) next(error);
      else response.status(500).json({ error: String(error) });
    };
    app.use(onError);
    return { app, errors, middleware };
  }

  test('allows requests up to the limit, and rejects the next with an exact Retry-After', async () => {
    const server = await listen(createApp({ limit: 2, window: '10s' }).app);
    const startSeconds = Date.now() / 1000;
    const first = await request(server).get('/');
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ allowed: true, remaining: 1 });
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    expect(first.headers).not.toHaveProperty('retry-after');
    const resetAt = Number(first.headers['x-ratelimit-reset']);
    // A whole second of this clock, rounded up.
    expect(resetAt).toBeGreaterThanOrEqual(startSeconds + 10);
    expect(resetAt).toBeLessThanOrEqual(Date.now() / 1000 + 11);
    now += 500;
    await request(server).get('/').expect(200);
    now += 500.001;
    const rejected = await request(server).get('/');
    expect(rejected.status).toBe(429);
    expect(rejected.headers).toMatchObject({
      'retry-after': '9',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
    });
    expect(rejected.body).toEqual({
      statusCode: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'Too Many Requests',
      message: 'Rate limit exceeded: try again in 9 seconds',
    });
    now += 8_999.998; // One microsecond before the first hit expires.
    const last = await request(server).get('/').expect(429);
    expect(last.body.message).toBe('Rate limit exceeded: try again in 1 second');
    now += 0.001;
    await request(server).get('/').expect(200);
  });

  test.each([
    [0.001, '1'],
    [999.999, '1'],
    [1000, '1'],
    [1000.001, '2'],
    [59_000.5, '60'],
  ])('a wait of %d ms becomes %s seconds, rounded up and at least 1', async (waitMs, seconds) => {
    const server = await listen(createApp({ limit: 1, window: '1m', resetUnit: 'delta' }).app);
    await request(server).get('/').expect(200);
    now += 60_000 - waitMs;
    await request(server).get('/').expect(429).expect('Retry-After', seconds).expect('X-RateLimit-Reset', seconds);
  });

  test('three pipelined requests on one connection with limit 2 get 200, 200, 429', async () => {
    const server = await listen(createApp({ limit: 2, window: '1m' }).app);
    const get = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';
    const responses = await exchange(server, `${get}${get}${get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`);
    expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 429']);
    expect(responses.match(/X-RateLimit-Remaining: \d+/gi)).toEqual([
      'X-RateLimit-Remaining: 1',
      'X-RateLimit-Remaining: 0',
      'X-RateLimit-Remaining: 0',
    ]);
  });

  test('counts by the client’s address, resolved through trusted proxies only', async () => {
    const { app } = createApp({ limit: 1, window: '1m' });
    const server = await listen(app);
    const from = (address: string) => request(server).get('/').set('X-Forwarded-For', address);
    await from('203.0.113.1').expect(200);
    await from('203.0.113.2').expect(429);
    app.set('trust proxy', 1);
    await from('203.0.113.1').expect(200);
    await from('203.0.113.2').expect(200);
    await from('203.0.113.1').expect(429);
    await from('2001:db8::1').expect(200);
    await from('2001:db8:0:ff::1').expect(429);
    await from('2001:db8:0:100::1').expect(200);
    await from('::ffff:203.0.113.1').expect(429);
  });

  test.each([
    ['at once', (name: string) => name],
    ['with a promise', async (name: string) => name],
  ])('counts by the option `key`, given %s', async (_, wrap) => {
    const key = (request: { query: { user?: unknown } }) => wrap(String(request.query.user));
    const server = await listen(createApp({ limit: 1, window: '1m', key } as RateLimitOptions).app);
    await request(server).get('/?user=ann').expect(200);
    await request(server).get('/?user=bob').expect(200);
    await request(server).get('/?user=ann').expect(429);
  });

  test('decides several limits on several keys together', async () => {
    const { app } = createApp({
      limits: { all: rollingWindow({ limit: 3, window: '1m' }), user: rollingWindow({ limit: 1, window: '1m' }) },
      key: (request) => ({ all: 'all', user: String(request.query.user) }),
    });
    const server = await listen(app);
    await request(server).get('/?user=ann').expect(200);
    await request(server).get('/?user=ann').expect(429).expect('X-RateLimit-Limit', '1');
    await request(server).get('/?user=bob').expect(200);
    await request(server).get('/?user=eve').expect(200).expect('X-RateLimit-Remaining', '0');
    await request(server).get('/?user=dan').expect(429).expect('X-RateLimit-Limit', '3');
  });

  test('takes a cost as a number or from the request, and omits Retry-After if no retry can succeed', async () => {
    const cost = (request: { query: { units?: unknown } }) => Promise.resolve(Number(request.query.units));
    const server = await listen(createApp({ limit: 5, window: '1m', cost } as RateLimitOptions).app);
    await request(server).get('/?units=3').expect(200).expect('X-RateLimit-Remaining', '2');
    await request(server).get('/?units=3').expect(429).expect('Retry-After', '60');
    const never = await request(server).get('/?units=6').expect(429);
    expect(never.headers).not.toHaveProperty('retry-after');
    const fixed = await listen(createApp({ limit: 5, window: '1m', cost: 4 }).app);
    await request(fixed).get('/').expect(200).expect('X-RateLimit-Remaining', '1');
  });

  test('skipped requests are neither counted nor given headers', async () => {
    const skip = async (request: { path: string }) => request.path === '/' && now < 2_000_000;
    const server = await listen(createApp({ limit: 1, window: '1m', skip } as RateLimitOptions).app);
    for (let turn = 0; turn < 3; turn++) {
      const reply = await request(server).get('/').expect(200);
      expect(reply.headers).not.toHaveProperty('x-ratelimit-limit');
    }
    now = 2_000_000;
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(429);
  });

  test('headers, reset unit and status are configurable', async () => {
    const silent = await listen(createApp({ limit: 1, window: '1m', headers: 'none', statusCode: 503 }).app);
    const allowed = await request(silent).get('/').expect(200);
    expect(Object.keys(allowed.headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    const rejected = await request(silent).get('/').expect(503).expect('Retry-After', '60');
    expect(rejected.headers).not.toHaveProperty('x-ratelimit-limit');
    expect(rejected.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable' });
    const delta = await listen(createApp({ limit: 1, window: '1m', resetUnit: 'delta' }).app);
    await request(delta).get('/').expect('X-RateLimit-Reset', '60');
  });

  test.each([
    [undefined, '*/*', 'application/json'],
    [undefined, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    [undefined, 'text/plain', 'text/plain'],
    [undefined, 'text/plain, application/json;q=0.5', 'text/plain'],
    [undefined, 'image/png', 'application/json'],
    [{ text: 'Slow down' }, '*/*', 'application/json'],
    [{ oh: 'no' }, 'text/plain', 'application/json'],
    [{ text: 'Slow down', oh: 'no' }, 'text/plain', 'application/json'],
    [{ json: { text: 'Slow down' } }, 'text/plain', 'application/json'],
  ])('a rejection with message %p, to a client that accepts %s, is %s', async (message, accept, type) => {
    const server = await listen(createApp({ limit: 1, window: '1m', message }).app);
    await request(server).get('/');
    const rejected = await request(server).get('/').set('Accept', accept).expect(429);
    expect(rejected.headers['content-type']).toBe(`${type}; charset=utf-8`);
    const usual = 'Rate limit exceeded: try again in 60 seconds';
    if (type === 'text/plain') expect(rejected.text).toBe(`${usual}\n`);
    else if (message === undefined) expect(rejected.body).toMatchObject({ message: usual });
    else if ('json' in message) expect(rejected.body).toEqual(message.json);
    else if ('oh' in message) expect(rejected.body).toEqual(message);
    else expect(rejected.body).toMatchObject({ statusCode: 429, code: 'RATE_LIMIT_EXCEEDED', message: 'Slow down' });
  });

  test('the response to a rejected HEAD request has the headers and no body', async () => {
    const server = await listen(createApp({ limit: 1, window: '1m' }).app);
    await request(server).head('/').expect(200);
    const rejected = await request(server).head('/').expect(429).expect('Retry-After', '60');
    expect(rejected.text).toBeUndefined();
  });

  test('a HEAD request counts with GET, for an app and for a route', async () => {
    const app = express();
    const limitedBy = (limit: number, prefix: string) =>
      rateLimit({ limit, window: '1m', prefix, store: new MemoryStore({ clock }), silence: WARNING_CODES });
    app.get('/route', limitedBy(2, 'route'), (_request, response) => void response.send('hello'));
    app.use(limitedBy(2, 'app'));
    app.get('/', (_request, response) => void response.send('hello'));
    const server = await listen(app);
    for (const path of ['/route', '/']) {
      await request(server).head(path).expect(200).expect('X-RateLimit-Remaining', '1');
      await request(server).get(path).expect(200).expect('X-RateLimit-Remaining', '0');
      await request(server).head(path).expect(429);
      await request(server).get(path).expect(429);
    }
  });

  test('a handler replaces the default rejection', async () => {
    const { app } = createApp({
      limit: 1,
      window: '1m',
      handler: (_request, response, _next, decision) => {
        response.status(418).json({ wait: decision.retryAfterMs });
      },
    });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(418, { wait: 60_000 }).expect('Retry-After', '60');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no session');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no session'))],
  ])('a key function that %s goes to the error handler, once', async (_, key) => {
    const { app, errors } = createApp({ limit: 1, window: '1m', key });
    const server = await listen(app);
    await request(server).get('/').expect(500, { error: 'Error: no session' });
    expect(errors).toHaveLength(1);
  });

  test.each([
    ['key', { key: () => 42 }, 'Expected `key` to be a string'],
    ['key', { key: async () => undefined }, 'Expected `key` to be a string'],
    ['cost', { cost: () => Number.NaN }, 'Expected `cost` to be a positive safe integer, got NaN (number)'],
    ['cost', { cost: async () => '2' }, 'Expected `cost` to be a positive safe integer, got "2" (string)'],
    ['skip', { skip: () => undefined }, 'Expected `skip(request)` to be a boolean, got undefined'],
  ])(
    'a %s function that returns an invalid value goes to the error handler, never to a silent default',
    async (_, options, expectedText) => {
      const { app, errors } = createApp({ limit: 1, window: '1m', ...options } as unknown as RateLimitOptions);
      const server = await listen(app);
      await request(server).get('/').expect(500);
      expect(errors).toHaveLength(1);
      expect(String(errors[0])).toContain(expectedText);
    },
  );

  test.each([
    [
      'throws',
      () => {
        throw new Error('no template');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no template'))],
  ])('a handler that %s goes to the error handler, once', async (_, handler) => {
    const { app, errors } = createApp({ limit: 1, window: '1m', handler });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(500, { error: 'Error: no template' });
    expect(errors).toHaveLength(1);
  });

  describe('an asynchronous store', () => {
    silenceOutages();

    /** Responds from its memory in a later turn, until it is down. */
    function laterStore() {
      const memory = new MemoryStore({ clock });
      const state = { isDown: false };
      const store: Store = {
        check: async (...args) => {
          if (state.isDown) throw new Error('connection refused');
          return memory.check(...args);
        },
        peek: async (...args) => memory.peek(...args),
        refund: (receipt) => memory.refund(receipt),
        reset: (...keys) => memory.reset(...keys),
      };
      return { store, state };
    }

    test('decides', async () => {
      const { app } = createApp({ limit: 1, window: '1m', store: laterStore().store });
      const server = await listen(app);
      await request(server).get('/').expect(200);
      await request(server).get('/').expect(429);
    });

    test.each([
      ['fallback', undefined, [200, 429]],
      ['fallback', 'fallback', [200, 429]],
      ['allow', 'allow', [200, 200]],
      ['deny', 'deny', [429, 429]],
    ] as const)('is stood in for by the policy %s when it fails', async (_, onStoreError, statuses) => {
      const { store, state } = laterStore();
      const { app, errors } = createApp({ limit: 1, window: '1m', store, onStoreError });
      const server = await listen(app);
      state.isDown = true;
      for (const status of statuses) {
        const { headers } = await request(server).get('/').expect(status);
        expect('x-ratelimit-remaining' in headers).toBe(onStoreError === undefined || onStoreError === 'fallback');
        expect(headers['retry-after']).toBe({ 200: undefined, 429: onStoreError === 'deny' ? '1' : '60' }[status]);
      }
      expect(errors).toEqual([]);
    });

    test('passes its failure to the error handler when the policy is to throw', async () => {
      const { store, state } = laterStore();
      const { app, errors } = createApp({ limit: 1, window: '1m', store, onStoreError: 'throw' });
      const server = await listen(app);
      state.isDown = true;
      await request(server).get('/').expect(500, { error: 'StoreError: The store failed: connection refused' });
      expect(errors).toHaveLength(1);
    });
  });

  test('a client that disconnects during a check causes no error', async () => {
    const checkStarted = deferred<void>();
    const clientKey = deferred<string>();
    let turn = 0;
    const key = () => {
      if (turn++ > 0) return 'bob';
      checkStarted.resolve();
      return clientKey.promise;
    };
    const { app, errors } = createApp({ limit: 1, window: '1m', key });
    const server = await listen(app);
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await checkStarted.promise;
    socket.destroy();
    await once(socket, 'close');
    clientKey.resolve('ann');
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(429);
    expect(errors).toEqual([]);
  });

  test('a response during the decision stays unchanged', async () => {
    const decided = deferred<string>();
    const late: string[] = [];
    const app = express();
    app.use((_request, response, next) => {
      response.on('close', () => decided.resolve('ann'));
      next();
      response.status(503).send('too slow');
    });
    app.use(rateLimit({ limit: 1, window: '1m', key: () => decided.promise, store: new MemoryStore({ clock }) }));
    app.use(() => {
      late.push('handled');
    });
    const server = await listen(app);
    await request(server).get('/').expect(503);
    await request(server).get('/').expect(503);
    expect(late).toEqual([]);
  });

  test.each([undefined, null, 0, '', 'route', 'router', 'text'])(
    'a failure with %p allows no request',
    async (thrown) => {
      for (const fail of [() => Promise.reject(thrown), () => raise(thrown)]) {
        for (const options of [{ key: fail }, { skip: fail }, { cost: fail }]) {
          const { app, errors } = createApp({ limit: 1, window: '1m', ...options } as unknown as RateLimitOptions);
          await request(await listen(app))
            .get('/')
            .expect(500);
          expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('to throw errors') })]);
        }
        const { app, errors } = createApp({ limit: 1, window: '1m', handler: fail as never });
        const server = await listen(app);
        await request(server).get('/').expect(200);
        await request(server).get('/').expect(500);
        expect(errors).toHaveLength(1);
      }
    },
  );

  test('a handler may continue with the request, whose rejection is then withdrawn', async () => {
    const { app } = createApp({ limit: 1, window: '1m', handler: (_request, _response, next) => next() });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    const reply = await request(server).get('/').expect(200, { allowed: false, remaining: 0 });
    expect(reply.headers).not.toHaveProperty('retry-after');
    expect(reply.headers).not.toHaveProperty('cache-control');
  });

  test('a client that disconnected before the check causes no error', async () => {
    const { app, errors } = createApp({ limit: 1, window: '1m' });
    const left = deferred<void>();
    const outer = express();
    outer.use(async (inner, _response, next) => {
      if (inner.path === '/left') {
        inner.socket.destroy();
        await once(inner.socket, 'close');
        next();
        left.resolve();
      } else next();
    });
    outer.use(app);
    const server = await listen(outer);
    await expect(request(server).get('/left')).rejects.toThrow();
    await left.promise;
    await request(server).get('/').expect(200);
    expect(errors).toEqual([]);
  });

  test('the middleware’s limiter resets a key', async () => {
    const { app, middleware } = createApp({ limit: 1, window: '1m', key: () => 'ann' });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(429);
    await middleware.limiter.reset('ann');
    await request(server).get('/').expect(200);
  });
});

describe('options', () => {
  const wrong: [object, string][] = [
    [{}, 'Expected `limit` to be a positive safe integer, got undefined'],
    [{ limit: 5 }, 'Expected `window` to be a duration'],
    [{ limit: '5', window: '1m' }, 'Expected `limit` to be a positive safe integer, got "5" (string)'],
    [{ limit: 5, window: Number.NaN }, 'got NaN (number)'],
    [{ limit: 5, window: '1m', max: 3 }, 'Unknown option `max` for rateLimit, got 3 (number)'],
    [{ limits: rollingWindow({ limit: 1, window: 1 }), limit: 5 }, 'got `limits` and `limit`'],
    [{ limit: 5, window: '1m', key: 'ip' }, 'Expected `key` to be a function, got "ip" (string)'],
    [{ limit: 5, window: '1m', skip: true }, 'Expected `skip` to be a function, got true (boolean)'],
    [{ limit: 5, window: '1m', handler: {} }, 'Expected `handler` to be a function'],
    [{ limit: 5, window: '1m', cost: 0 }, 'Expected `cost` to be a positive safe integer, got 0 (number)'],
    [{ limit: 5, window: '1m', store: {} }, 'Expected `store` to be a store'],
    [{ limit: 5, window: '1m', prefix: 5 }, 'Expected `prefix` to be a string'],
    [
      { limit: 5, window: '1m', headers: 'draft' },
      "Expected `headers` to be one of 'x-ratelimit', 'draft-11', 'draft-12', 'all', 'none'",
    ],
    [{ limit: 5, window: '1m', resetUnit: 'ms' }, "Expected `resetUnit` to be one of 'epoch', 'delta'"],
    [{ limit: 5, window: '1m', statusCode: 200 }, 'Expected `statusCode` to be an integer from 400 to 599'],
    [{ limit: 5, window: '1m', statusCode: '429' }, 'Expected `statusCode` to be an integer from 400 to 599'],
    [{ limit: 5, window: '1m', message: { html: 5 } }, 'Expected `message.html` to be a string, got 5 (number)'],
    [{ limit: 5, window: '1m', message: { text: null } }, 'Expected `message.text` to be a string, got null'],
    [{ limit: 5, window: '1m', message: { json: 'no' } }, 'Expected `message.json` to be an object, got "no" (string)'],
    [{ limit: 5, window: '1m', message: { json: { n: 1n } } }, 'Expected `message.json` to be an object that JSON can'],
    [{ limit: 5, window: '1m', ipv6Prefix: 129 }, 'Expected `ipv6Prefix` to be an integer from 1 to 128'],
    [{ limit: 5, window: '1m', message: { big: 1n } }, 'Expected `message` to be an object that JSON can represent'],
    [
      { limit: 5, window: '1m', message: 5 },
      'Expected `message` to be a string, an object or a function that returns one, got 5 (number)',
    ],
    [{ limit: 0, window: () => '1m' }, 'Expected `limit` to be a positive safe integer, got 0 (number)'],
    [{ limit: () => 5, window: 'soon' }, 'Expected `window` to be a duration'],
    [{ limit: () => 5, window: '1m', minDifference: -1 }, 'Expected `minDifference` to be a duration'],
    [
      { limit: () => 5, window: () => '1m', countRejected: 1 },
      'Expected `countRejected` to be a boolean, got 1 (number)',
    ],
    [
      { limits: null },
      'Expected `limits` to be a limit such as `rollingWindow({ … })`, or a record of at least one, got null',
    ],
    [{ limits: {} }, 'Expected `limits` to be a limit such as `rollingWindow({ … })`, or a record of at least one'],
    [
      { limits: 5 },
      'Expected `limits` to be a limit such as `rollingWindow({ … })`, or a record of at least one, got 5',
    ],
    [{ limits: () => rollingWindow({ limit: 1, window: 1 }), window: '1m' }, 'got `limits` and `window`'],
    [
      { limit: 5, window: '1m', allowList: '10.0.0.0/8' },
      'Expected `allowList` to be an array of addresses and networks',
    ],
    [
      { limit: 5, window: '1m', allowList: ['::1', '10/8'] },
      'Expected `allowList[1]` to be an IP address or a network',
    ],
    [{ limit: 5, window: '1m', skipSuccessfulRequests: 'yes' }, 'Expected `skipSuccessfulRequests` to be a boolean'],
    [{ limit: 5, window: '1m', skipFailedRequests: 1 }, 'Expected `skipFailedRequests` to be a boolean'],
    [
      { limit: 5, window: '1m', skipFailedRequests: true, requestWasSuccessful: 200 },
      'Expected `requestWasSuccessful` to be a function',
    ],
    [
      { limit: 5, window: '1m', requestWasSuccessful: () => true },
      'with `requestWasSuccessful`, got neither. It has no effect alone',
    ],
    [{ limit: 5, window: '1m', onLimited: [] }, 'Expected `onLimited` to be a function, got an array (object)'],
    [{ limit: 5, window: '1m', dryRun: 'no' }, 'Expected `dryRun` to be a boolean, got "no" (string)'],
    [{ limit: 5, window: '1m', timeout: 0 }, 'Expected `timeout` to be a duration'],
    [{ limit: 5, window: '1m', timeout: '25d' }, 'Expected `timeout` to be a duration of at most 24 days'],
    [{ limit: 5, window: '1m', onStoreError: 'ignore' }, 'Expected `onStoreError` to be one of'],
    [
      { limit: 5, window: '1m', headers: true },
      "Expected `headers` to be one of 'x-ratelimit', 'draft-11', 'draft-12', 'all', 'none', got true (boolean)",
    ],
    [{ limit: 5, window: '1m', exposeHeaders: 'all' }, 'Expected `exposeHeaders` to be a boolean'],
    [{ limit: 5, window: '1m', statusCode: 429.5 }, 'Expected `statusCode` to be an integer from 400 to 599'],
    [
      { limit: 5, window: '1m', message: null },
      'Expected `message` to be a string, an object or a function that returns one, got null',
    ],
    [{ limit: 5, window: '1m', problem: {} }, 'Expected `problem` to be a boolean'],
    [{ limit: 5, window: '1m', silence: 'ROLLGATE_SHARED_KEYS' }, 'Expected `silence` to be an array of warning codes'],
    [
      { limit: 5, window: '1m', silence: ['ROLLGATE_NOTHING'] },
      "Expected `silence[0]` to be one of 'ROLLGATE_UNTRUSTED_PROXY'",
    ],
    [
      { limit: 5, window: '1m', requestPropertyName: 5 },
      'Expected `requestPropertyName` to be a string, got 5 (number)',
    ],
    ...['', 'headers', 'body', 'ip', 'on', '__proto__', 'constructor'].map((requestPropertyName): [object, string] => [
      { limit: 5, window: '1m', requestPropertyName },
      'Expected `requestPropertyName` to be a property that requests do not have yet',
    ]),
    [undefined as never, 'Expected `rateLimit options` to be an object, got undefined'],
    [null as never, 'Expected `rateLimit options` to be an object, got null'],
  ];
  test.each(wrong)('%p throws at construction', (options, expectedText) => {
    expect(() => rateLimit(options as RateLimitOptions)).toThrow(expectedText);
  });

  test('with a record of limits, `key` must return exactly their names', () => {
    const limits = { burst: rollingWindow({ limit: 1, window: 1 }), daily: rollingWindow({ limit: 1, window: 1 }) };
    expect(rateLimit({ limits, key: () => ({ burst: 'ann', daily: 'ann' }) })).toBeInstanceOf(Function);
    // @ts-expect-error a key for `daily` is missing
    expect(rateLimit({ limits, key: () => ({ burst: 'ann' }) })).toBeInstanceOf(Function);
    // @ts-expect-error window settings and `limits` exclude each other
    expect(() => rateLimit({ limits, limit: 5, window: '1m' })).toThrow(TypeError);
    // @ts-expect-error there is no such option
    expect(() => rateLimit({ limit: 5, window: '1m', max: 5 })).toThrow(TypeError);
  });
});
