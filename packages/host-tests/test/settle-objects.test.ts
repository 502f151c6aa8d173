import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import * as onHono from '@rollgate/hono';
import * as onKoa from '@rollgate/koa';
import { Hono } from 'hono';
import Koa, { type Context } from 'koa';

const OPTIONS = { limit: 9, window: '1m', key: () => 'ann' } as const;

test('settle takes every object of a Koa request', async () => {
  const objects: ((ctx: Context) => object)[] = [(ctx) => ctx, (ctx) => ctx.request, (ctx) => ctx.req];
  const limit = onKoa.rateLimit(OPTIONS);
  const app = new Koa().use(limit).use(async (ctx) => {
    await onKoa.settle(objects.shift()!(ctx), { cost: 2 });
    ctx.body = 'hello';
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (const remaining of [7, 5, 3]) {
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { headers: { connection: 'close' } });
    expect(await limit.limiter.peek('ann')).toMatchObject({ remaining });
  }
  server.close();
});

test('settle takes the context and the request of Hono', async () => {
  const limit = onHono.rateLimit(OPTIONS);
  const app = new Hono();
  app.use(limit);
  app.get('/c', async (c) => {
    await onHono.settle(c, { cost: 2 });
    return c.text('hello');
  });
  app.get('/req', async (c) => {
    await onHono.settle(c.req, { cost: 2 });
    return c.text('hello');
  });
  for (const [path, remaining] of [
    ['/c', 7],
    ['/req', 5],
  ] as const) {
    await app.request(path);
    expect(await limit.limiter.peek('ann')).toMatchObject({ remaining });
  }
});
