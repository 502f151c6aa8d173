// Prints what one warm request to a host causes in this process without a limiter, with one in memory, and with one whose store
// replies later: async resources by their type, and listeners. The client is the same, so a difference is the limiter's.
import { createHook } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { serve as serveHono } from '@hono/node-server';
import { MemoryStore } from '@rollgate/core';
import { rateLimit as limitExpress } from '@rollgate/express';
import limitFastify from '@rollgate/fastify';
import { rateLimit as limitHono, nodeAddress } from '@rollgate/hono';
import { rateLimit as limitKoa } from '@rollgate/koa';
import { rateLimit as limitNode } from '@rollgate/node';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';

const counts = new Map();
const count = (name) => counts.set(name, (counts.get(name) ?? 0) + 1);
const { on, once: onceMethod } = EventEmitter.prototype;
for (const [name, method] of Object.entries({ on, addListener: on, once: onceMethod })) {
  EventEmitter.prototype[name] = function (...args) {
    count('listener');
    return method.apply(this, args);
  };
}

/** A server of each host. Without options, a middleware that only continues takes the limiter's place. */
const HOSTS = {
  express(options) {
    const app = express();
    app.use(options ? limitExpress(options) : (_request, _response, next) => next());
    app.get('/', (_request, response) => response.end('hello'));
    return createServer(app);
  },
  async fastify(options) {
    const app = fastify();
    if (options) await app.register(limitFastify, options);
    else app.addHook('onRequest', (_request, _reply, done) => done());
    app.get('/', (_request, reply) => reply.send('hello'));
    await app.ready();
    return app.server;
  },
  koa(options) {
    const app = new Koa();
    app.use(options ? limitKoa(options) : (_ctx, next) => next());
    app.use((ctx) => {
      ctx.body = 'hello';
    });
    return createServer(app.callback());
  },
  node(options) {
    const handler = (_request, response) => response.end('hello');
    if (options === undefined) return createServer(handler);
    const { middleware } = limitNode(options);
    return createServer((request, response) => middleware(request, response, () => handler(request, response)));
  },
  hono(options) {
    const app = new Hono();
    app.use(options ? limitHono({ ...options, address: nodeAddress }) : async (_c, next) => await next());
    app.get('/', (c) => c.text('hello'));
    return serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  },
};

const laterStore = () => {
  const store = new MemoryStore();
  return { check: async (...args) => store.check(...args), peek() {}, refund() {}, reset() {} };
};
const limit = { limit: 1_000_000, window: '1h' };
const VARIANTS = { bare: () => undefined, memory: () => limit, later: () => ({ ...limit, store: laterStore() }) };

async function measure(create, options) {
  const server = await create(options);
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const request = async () => {
    const [response] = await once(get({ host: '127.0.0.1', port: server.address().port, agent }), 'response');
    await once(response.resume(), 'end');
    await wait(1); // Until the server has ended its part.
  };
  // A limiter looks for reasons to warn in its first 100 requests.
  for (let turn = 0; turn < (options === undefined ? 10 : 110); turn++) await request();
  const hook = createHook({ init: (_id, type) => count(type) }).enable();
  const least = {};
  for (let turn = 0; turn < 20; turn++) {
    counts.clear();
    await request();
    for (const type of ['TickObject', 'Timeout', 'Immediate', 'PROMISE', 'listener']) {
      least[type] = Math.min(least[type] ?? Infinity, counts.get(type) ?? 0);
    }
  }
  hook.disable();
  agent.destroy();
  server.close();
  return least;
}

const results = {};
for (const [host, create] of Object.entries(HOSTS)) {
  results[host] = {};
  for (const [name, createOptions] of Object.entries(VARIANTS)) {
    results[host][name] = await measure(create, createOptions());
  }
}
console.log(JSON.stringify(results));
process.exit();
