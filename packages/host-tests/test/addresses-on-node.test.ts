import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import * as express from '@rollgate/express';
import * as fastify from '@rollgate/fastify';
import * as koa from '@rollgate/koa';

import * as node from '@rollgate/node';
import createExpress from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import * as nestjs from '../../nestjs/src/addresses';

const CLIENT = '198.51.100.7';
const OTHER = '198.51.100.8';

type Address = (request: never) => string | undefined;
interface Adapter {
  readonly cloudflareAddress: Address;
  readonly vercelAddress: Address;
  readonly forwardedAddress: (options: { trustedProxies: number }) => Address;
}

/** Serves with a limit of one request by this address. */
const HOSTS: Record<string, [Adapter, (address: unknown) => Promise<RequestListener>]> = {
  Express: [
    express,
    async (address) => {
      const app = createExpress();
      app.use(express.rateLimit({ limit: 1, window: '1m', address: address as never }));
      return app.get('/', (_request, response) => void response.send('hello'));
    },
  ],
  Fastify: [
    fastify,
    async (address) => {
      const app = Fastify();
      await app.register(fastify.rateLimit, { limit: 1, window: '1m', address: address as never });
      app.get('/', async () => 'hello');
      await app.ready();
      return app.routing;
    },
  ],
  Koa: [
    koa,
    async (address) => {
      const app = new Koa();
      app.use(koa.rateLimit({ limit: 1, window: '1m', address: address as never }));
      app.use((ctx) => {
        ctx.body = 'hello';
      });
      return app.callback();
    },
  ],
  Node: [
    node,
    async (address) =>
      node.rateLimit({ limit: 1, window: '1m', address: address as never })((_request, response) =>
        response.end('hello'),
      ),
  ],
};

async function statuses(listener: RequestListener, requests: readonly Record<string, string>[]): Promise<number[]> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as { port: number };
    const sent: number[] = [];
    for (const headers of requests) sent.push((await fetch(`http://127.0.0.1:${port}/`, { headers })).status);
    return sent;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe.each(Object.entries(HOSTS))('%s', (_, [adapter, serve]) => {
  test.each([
    ['cloudflareAddress', adapter.cloudflareAddress, 'CF-Connecting-IP', CLIENT, OTHER],
    ['vercelAddress', adapter.vercelAddress, 'X-Real-IP', CLIENT, OTHER],
    [
      'forwardedAddress',
      adapter.forwardedAddress({ trustedProxies: 2 }),
      'X-Forwarded-For',
      `forged, ${CLIENT}, 10.0.0.1`,
      `${CLIENT}, ${OTHER}, 10.0.0.1`,
    ],
  ])('counts by %s', async (_name, address, header, client, other) => {
    const requests = [client, client, other].map((value) => ({ [header]: value, Forwarded: 'for=192.0.2.1' }));
    expect(await statuses(await serve(address), requests)).toEqual([200, 429, 200]);
  });

  test('without an address, a request fails, and `address` must be a function', async () => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {});
    expect(await statuses(await serve(adapter.cloudflareAddress), [{}])).toEqual([500]);
    log.mockRestore();
    await expect(serve('cloudflare')).rejects.toThrow('Expected `address` to be a function, got "cloudflare" (string)');
  });
});

test('the functions of NestJS read the request of a context, or the handshake of a WebSocket', () => {
  const headers = { 'cf-connecting-ip': CLIENT, 'x-real-ip': OTHER, 'x-forwarded-for': `${CLIENT}, 10.0.0.1` };
  const contextOf = (client: object) => ({ getType: () => 'http', getArgByIndex: () => client }) as never;
  for (const client of [{ headers }, { handshake: { headers } }]) {
    expect(nestjs.cloudflareAddress(contextOf(client))).toBe(CLIENT);
    expect(nestjs.vercelAddress(contextOf(client))).toBe(OTHER);
    expect(nestjs.forwardedAddress({ trustedProxies: 2 })(contextOf(client))).toBe(CLIENT);
  }
  expect(nestjs.cloudflareAddress(contextOf({}))).toBeUndefined();
});

test.each(Object.values(HOSTS))('a wrong number of proxies is an error', ({ forwardedAddress }) => {
  expect(() => forwardedAddress({ trustedProxies: 0 })).toThrow('Expected `trustedProxies` to be an integer from 1');
  expect(() => forwardedAddress(undefined as never)).toThrow('Expected `forwardedAddress options` to be an object');
});
