import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { MemoryStore, rollingWindow } from '@rollgate/core';
import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { WARNING_CODES } from '@rollgate/http';
import request from 'supertest';
import { clock, createApp, EXPRESSES, listen } from './support/limited-app';

/** Returns the response to raw bytes on one connection. */
async function exchange(server: Server, bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

describe.each(EXPRESSES)('Express %s', (_, express) => {
  test('allows requests up to the limit, and rejects the next with an exact Retry-After', async () => {
    const server = await listen(createApp(express, { limit: 2, window: '10s' }).app);
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
    clock.ms += 500;
    await request(server).get('/').expect(200);
    clock.ms += 500.001;
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
    clock.ms += 8_999.998; // One microsecond before the first hit expires.
    const last = await request(server).get('/').expect(429);
    expect(last.body.message).toBe('Rate limit exceeded: try again in 1 second');
    clock.ms += 0.001;
    await request(server).get('/').expect(200);
  });

  test.each([
    [0.001, '1'],
    [999.999, '1'],
    [1000, '1'],
    [1000.001, '2'],
    [59_000.5, '60'],
  ])('a wait of %d ms becomes %s seconds, rounded up and at least 1', async (waitMs, seconds) => {
    const server = await listen(createApp(express, { limit: 1, window: '1m', resetUnit: 'delta' }).app);
    await request(server).get('/').expect(200);
    clock.ms += 60_000 - waitMs;
    await request(server).get('/').expect(429).expect('Retry-After', seconds).expect('X-RateLimit-Reset', seconds);
  });

  test('three pipelined requests on one connection with limit 2 get 200, 200, 429', async () => {
    const server = await listen(createApp(express, { limit: 2, window: '1m' }).app);
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
    const { app } = createApp(express, { limit: 1, window: '1m' });
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
    const server = await listen(createApp(express, { limit: 1, window: '1m', key } as RateLimitOptions).app);
    await request(server).get('/?user=ann').expect(200);
    await request(server).get('/?user=bob').expect(200);
    await request(server).get('/?user=ann').expect(429);
  });

  test('decides several limits on several keys together', async () => {
    const { app } = createApp(express, {
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
    const server = await listen(createApp(express, { limit: 5, window: '1m', cost } as RateLimitOptions).app);
    await request(server).get('/?units=3').expect(200).expect('X-RateLimit-Remaining', '2');
    await request(server).get('/?units=3').expect(429).expect('Retry-After', '60');
    const never = await request(server).get('/?units=6').expect(429);
    expect(never.headers).not.toHaveProperty('retry-after');
    const fixed = await listen(createApp(express, { limit: 5, window: '1m', cost: 4 }).app);
    await request(fixed).get('/').expect(200).expect('X-RateLimit-Remaining', '1');
  });

  test('skipped requests are neither counted nor given headers', async () => {
    const skip = async (request: { path: string }) => request.path === '/' && clock.ms < 2_000_000;
    const server = await listen(createApp(express, { limit: 1, window: '1m', skip } as RateLimitOptions).app);
    for (let turn = 0; turn < 3; turn++) {
      const reply = await request(server).get('/').expect(200);
      expect(reply.headers).not.toHaveProperty('x-ratelimit-limit');
    }
    clock.ms = 2_000_000;
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(429);
  });

  test('headers, reset unit and status are configurable', async () => {
    const silent = await listen(createApp(express, { limit: 1, window: '1m', headers: 'none', statusCode: 503 }).app);
    const allowed = await request(silent).get('/').expect(200);
    expect(Object.keys(allowed.headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    const rejected = await request(silent).get('/').expect(503).expect('Retry-After', '60');
    expect(rejected.headers).not.toHaveProperty('x-ratelimit-limit');
    expect(rejected.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable' });
    const delta = await listen(createApp(express, { limit: 1, window: '1m', resetUnit: 'delta' }).app);
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
    const server = await listen(createApp(express, { limit: 1, window: '1m', message }).app);
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
    const server = await listen(createApp(express, { limit: 1, window: '1m' }).app);
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
    const { app } = createApp(express, {
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

  test('a handler may continue with the request, whose rejection is then withdrawn', async () => {
    const { app } = createApp(express, { limit: 1, window: '1m', handler: (_request, _response, next) => next() });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    const reply = await request(server).get('/').expect(200, { allowed: false, remaining: 0 });
    expect(reply.headers).not.toHaveProperty('retry-after');
    expect(reply.headers).not.toHaveProperty('cache-control');
  });

  test('the middleware’s limiter resets a key', async () => {
    const { app, middleware } = createApp(express, { limit: 1, window: '1m', key: () => 'ann' });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(429);
    await middleware.limiter.reset('ann');
    await request(server).get('/').expect(200);
  });
});
