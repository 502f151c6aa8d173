import { MemoryStore } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';
import { WARNING_CODES } from '@rollgate/http';
import request from 'supertest';
import { clock, createApp, EXPRESSES, listen } from './support/limited-app';

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
