import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { rollingWindow } from '@rollgate/core';
import * as onExpress from '@rollgate/express';
import * as onHono from '@rollgate/hono';
import * as onKoa from '@rollgate/koa';
import * as onNode from '@rollgate/node';
import express from 'express';
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

/** Serves one request by the middleware and a handler, and expects that neither fails. */
async function serveOnce(middleware: express.RequestHandler[], handler: express.RequestHandler): Promise<void> {
  const server = express().use(middleware).get('/', handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { status } = await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } });
  server.close();
  expect(status).toBe(200);
}

test('settle with a limiter leaves the others as they are', async () => {
  const flood = onExpress.rateLimit(OPTIONS);
  const limits = {
    requests: rollingWindow({ limit: 9, window: '1m' }),
    tokens: rollingWindow({ limit: 9, window: '1m' }),
  };
  const llm = onExpress.rateLimit({ limits, key: () => 'ann', cost: { tokens: 5 } });
  const unused = onExpress.rateLimit(OPTIONS);
  await serveOnce([flood, llm], async (request, response) => {
    await onExpress.settle(request, { limiter: unused, cost: 0 });
    await onExpress.settle(request, { limiter: llm, cost: 0 });
    await onExpress.settle(request, { limiter: flood.limiter, cost: 3 });
    await onExpress.settle(request, { cost: 9 }); // Both have settled the request.
    response.end();
  });
  expect((await flood.limiter.peek('ann')).remaining).toBe(6);
  const left = await llm.limiter.peek('ann');
  expect([left.limits.requests.remaining, left.limits.tokens.remaining]).toEqual([9, 9]);
});

test.each([
  ['a name that the limiter does not have', (limiter: object) => ({ limiter, cost: { tokens: 1 } }), 'tokens'],
  ['text as the limiter', () => ({ limiter: 'llm', cost: 0 }), 'Expected `limiter` to be a limiter'],
  ['an object without a limiter', () => ({ limiter: { limiter: {} }, cost: 0 }), 'Expected `limiter` to be a limiter'],
  ['a misspelled option', (limter: object) => ({ limter, cost: 0 }), 'Unknown option `limter` for settle'],
])('settle rejects %s, and settles nothing', async (_, createOptions, message) => {
  const limits = { tokens: rollingWindow({ limit: 9, window: '1m' }) };
  const [first, second] = [onExpress.rateLimit({ limits, key: () => 'ann' }), onExpress.rateLimit(OPTIONS)];
  await serveOnce([first, second], async (request, response) => {
    await expect(onExpress.settle(request, createOptions(second) as never)).rejects.toThrow(message);
    response.end();
  });
  for (const { limiter } of [first, second]) expect(await limiter.peek('ann')).toMatchObject({ remaining: 8 });
});

test.each([
  ['a request', (request: object) => request],
  ['an object that inherits from a request', (request: object) => Object.create(request) as object],
])('settle finds the limiters of every adapter that %s has passed', async (_, derive) => {
  const [first, second] = [onExpress.rateLimit(OPTIONS), onExpress.rateLimit(OPTIONS)];
  const other = onNode.rateLimit(OPTIONS);
  await serveOnce([first, second, other.middleware], async (request, response) => {
    await onExpress.settle(derive(request), { cost: 3 });
    response.end();
  });
  for (const { limiter } of [first, second, other]) {
    expect(await limiter.peek('ann')).toMatchObject({ remaining: 6 });
  }
});
