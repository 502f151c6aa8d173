import type { RateLimitOptions } from '@rollgate/express';
import type { Request } from 'express';
import request from 'supertest';
import { createApp, EXPRESSES, listen } from './support/limited-app';

describe.each(EXPRESSES)('Express %s', (_, express) => {
  test('`limits` may be text, a record of it, or a function that returns either', async () => {
    const forms: [RateLimitOptions['limits'], string][] = [
      ['1/1m', '"default";q=1;w=60'],
      [{ burst: '1/1s', day: '9/1d' }, '"burst";q=1;w=1, "day";q=9;w=86400'],
      [() => '1/1m', '"default";q=1;w=60'],
      [async () => ({ burst: '1/1s', day: '9/1d' }), '"burst";q=1;w=1, "day";q=9;w=86400'],
    ];
    for (const [limits, policy] of forms) {
      const server = await listen(createApp(express, { limits, headers: 'all' } as RateLimitOptions).app);
      const { headers } = await request(server).get('/').expect(200);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'ratelimit-policy': policy });
      await request(server).get('/').expect(429);
    }
  });

  test('a request whose `key` returns nothing counts for its address', async () => {
    const key = async ({ query }: Request) => (query.user === 'none' ? null : (query.user as string | undefined));
    const { app, middleware } = createApp(express, { limit: 2, window: '1m', key });
    app.set('trust proxy', 'loopback');
    const server = await listen(app);
    const remaining = async (query: string, address: string) => {
      const { headers } = await request(server).get(`/${query}`).set('X-Forwarded-For', address);
      return headers['x-ratelimit-remaining'];
    };
    expect(await remaining('', '192.0.2.1')).toBe('1');
    expect(await remaining('?user=none', '192.0.2.1')).toBe('0');
    expect(await remaining('', '192.0.2.2')).toBe('1');
    expect(await remaining('?user=ann', '192.0.2.1')).toBe('1');
    expect(await remaining('', '2001:db8::1')).toBe('1');
    expect(await remaining('', '2001:db8::2')).toBe('0');
    // A user whose ID looks like an address, or like the key of one.
    for (const id of ['192.0.2.1', 'address=192.0.2.1', 'id=address=192.0.2.1', 'id=id=address=192.0.2.1', 'id=ann']) {
      expect(await remaining(`?user=${encodeURIComponent(id)}`, '192.0.2.9')).toBe('1');
    }
    expect((await middleware.limiter.peek('ann')).remaining).toBe(1);
    await middleware.limiter.reset('address=192.0.2.1');
    expect(await remaining('', '192.0.2.1')).toBe('1');
  });

  test('without `key`, addresses keep their names in the store', async () => {
    const { app, middleware } = createApp(express, { limit: 2, window: '1m' });
    await request(await listen(app)).get('/');
    expect((await middleware.limiter.peek('127.0.0.1')).remaining).toBe(1);
  });

  test('a key may be a number, and each in a record may be missing', async () => {
    const limits = { user: '3/1m', address: '9/1m' };
    const key = ({ query }: Request) => ({ user: query.user ? 42 : undefined, address: null });
    const { app, middleware } = createApp(express, { limits, key } as Partial<RateLimitOptions>);
    const server = await listen(app);
    await request(server).get('/').expect(200);
    await request(server).get('/?user=1').expect(200);
    const peek = async (user: string) => {
      const { limits } = await middleware.limiter.peek({ user, address: 'address=127.0.0.1' });
      return [limits.user?.remaining, limits.address?.remaining];
    };
    expect(await peek('42')).toEqual([2, 7]);
    expect(await peek('address=127.0.0.1')).toEqual([2, 7]);
  });

  test.each([[''], [{}], [Number.NaN], [true]])('the key %p is an error', async (key) => {
    const { app, errors } = createApp(express, { limit: 2, window: '1m', key: () => key as never });
    await request(await listen(app))
      .get('/')
      .expect(500);
    expect(errors).toMatchObject([{ code: 'ERR_ROLLGATE_INVALID_KEY' }]);
  });
});
