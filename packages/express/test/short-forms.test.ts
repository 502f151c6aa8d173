import type { RateLimitOptions } from '@rollgate/express';
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
});
