import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { type Decision, leakyBucket, MemoryStore, rollingWindow, type Store } from '@rollgate/core';
import rateLimit, { type RateLimitPluginOptions } from '@rollgate/fastify';
import { storeWith, until } from '@rollgate/host-tests/fastify-apps';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import fastify5, { type FastifyInstance, type FastifyReply, type FastifyServerOptions } from 'fastify';
import fastify50 from 'fastify50';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

const INTERVAL_MS = 100;
const HOUR_MS = 3_600_000;
const queue = leakyBucket({ capacity: 3, interval: INTERVAL_MS });
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });

/** Rejects the fifth request even when the process was busy for so long that the queue has room again. */
const fourRequests = rollingWindow({ limit: 4, window: '1h' });

/** Its clock stands still, so the number of requests in an interval does not depend on the machine's speed. */
const atOnce = () => new MemoryStore({ clock });

const later = (methods: Partial<Store> = {}, memory = atOnce()) => storeWith(methods, memory);

test.each(['fastify', 'fastify50'])(
  'a queue delays requests that are injected into %s, and frees the starts of aborted ones',
  async (module) => {
    const script = `${__dirname}/support/injected.mjs`;
    const { stdout } = await promisify(execFile)(process.execPath, [script, module]);
    const { passed, ...rest } = JSON.parse(stdout) as { passed: [string, number][] };
    expect(rest).toEqual({ statuses: [200, 200, 200, 200, 429], before: 0, ended: 'aborted', after: 1 });
    expect(passed.map(([name]) => name)).toEqual(['0', '1', '2', '3']);
    for (const [turn, [, atMs]] of passed.entries()) expect(atMs).toBeGreaterThanOrEqual(turn * 50 - 0.001);
  },
);

describe.each([
  ['newest', fastify5],
  ['5.0.0', fastify50],
])('a queue in Fastify %s', (_, fastify) => {
  /** An app that records which requests arrived and which continued, and when. */
  async function create(options: Partial<RateLimitPluginOptions>, serverOptions: FastifyServerOptions = {}) {
    const arrivals: { name: string; atMs: number; reply: FastifyReply }[] = [];
    const passed: { name: string; atMs: number; delayMs: number | undefined }[] = [];
    const app = fastify({ forceCloseConnections: true, ...serverOptions });
    apps.push(app);
    app.addHook('onRequest', (request, reply, done) => {
      arrivals.push({ name: request.url.slice(1), atMs: performance.now(), reply });
      done();
    });
    const store = options.store ?? atOnce();
    await app.register(rateLimit, { key: () => 'all', ...options, store } as RateLimitPluginOptions);
    app.all('/:name', async (request) => {
      const name = request.url.slice(1);
      passed.push({ name, atMs: performance.now(), delayMs: request.rateLimit?.delayMs });
      return name;
    });
    /** Returns how long the next request would be delayed, by the same check as the plugin's. */
    const delayMs = async () => {
      const rule = {
        name: 'default',
        limit: options.limits as typeof queue,
        namespace: 'rollgate:default:leaky-bucket',
      };
      return (await store.peek({ prefix: 'rollgate', rules: [rule] }, 'all', 1)).delayMs;
    };
    return { app, arrivals, passed, delayMs };
  }

  const listen = (app: FastifyInstance) => app.listen({ port: 0, host: '127.0.0.1' });

  const raw = (name: string | number, fields = '') => `GET /${name} HTTP/1.1\r\nHost: here\r\n${fields}\r\n`;
  const open = (app: FastifyInstance) =>
    connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});

  test.each([
    ['at once', atOnce],
    ['later', later],
  ])(
    'continues one request per interval, in order, and rejects requests when it is full, with a store that responds %s',
    async (_, store) => {
      const { app, arrivals, passed } = await create({ limits: queue, store: store() });
      const address = await listen(app);
      const replies = await Promise.all([0, 1, 2, 3, 4].map((name) => fetch(`${address}/${name}`)));
      const order = arrivals.map(({ name }) => name);
      passed.sort((one, other) => one.delayMs! - other.delayMs!); // Timers that are due at once run in any order.
      expect(passed.map(({ name }) => name)).toEqual(order.slice(0, 4));
      for (const [turn, { atMs }] of passed.entries()) {
        expect(atMs - arrivals[turn]!.atMs).toBeGreaterThanOrEqual(turn * INTERVAL_MS - 0.001);
      }
      expect(passed.map(({ delayMs }) => delayMs)).toEqual([0, 1, 2, 3].map((turn) => turn * INTERVAL_MS));
      expect(order.map((name) => replies[Number(name)]!.status)).toEqual([200, 200, 200, 200, 429]);
      expect(replies[Number(order[4])]!.headers.get('retry-after')).toBe('1');
      now += INTERVAL_MS - 0.001;
      expect((await fetch(`${address}/5`)).status).toBe(429);
      now += 0.001;
      expect((await fetch(`${address}/6`)).status).toBe(200);
    },
  );

  test('delays by real time, even in a pipeline', async () => {
    const { app, arrivals, passed } = await create({ limits: { queue, fourRequests }, store: new MemoryStore() });
    await listen(app);
    const socket = open(app);
    socket.write(raw(0) + raw(1) + raw(2) + raw(3) + raw(4, 'Connection: close\r\n'));
    const responses = await text(socket);
    expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual([200, 200, 200, 200, 429].map((status) => `HTTP/1.1 ${status}`));
    // After a pause of the process, several timers are due at once, in any order.
    expect(passed.map(({ name }) => name).sort()).toEqual(['0', '1', '2', '3']);
    for (const { name, atMs } of passed) {
      expect(atMs - arrivals[0]!.atMs).toBeGreaterThanOrEqual(Number(name) * INTERVAL_MS - 0.001);
    }
  });

  test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)(
    'delays requests in the hook %s',
    async (hook) => {
      const { app, passed, delayMs } = await create({ limits: slowQueue, hook });
      const address = await listen(app);
      const options = {
        method: 'POST',
        body: JSON.stringify('hello'),
        headers: { 'content-type': 'application/json' },
      };
      expect((await fetch(`${address}/first`, options)).status).toBe(200);
      const controller = new AbortController();
      const delayed = fetch(`${address}/delayed`, { ...options, signal: controller.signal });
      await until(async () => (await delayMs()) === 2 * HOUR_MS);
      controller.abort('bored');
      await expect(delayed).rejects.toBe('bored');
      await until(async () => (await delayMs()) === HOUR_MS);
      expect(passed.map(({ name }) => name)).toEqual(['first']);
    },
  );

  test.each([
    ['at once', atOnce],
    ['later', later],
  ])('frees every start of a pipeline whose client disconnects, with a store that responds %s', async (_, store) => {
    const { app, arrivals, passed, delayMs } = await create({ limits: slowQueue, store: store() });
    await listen(app);
    const socket = open(app);
    socket.write(raw(0) + raw(1) + raw(2));
    await until(async () => arrivals.length === 3 && (await delayMs()) === 3 * HOUR_MS);
    await flushPromises();
    socket.destroy();
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['0']);
  });

  test('leaves no listener on a keep-alive connection', async () => {
    const { app, arrivals, passed } = await create({ limits: leakyBucket({ capacity: 30, interval: 1 }) });
    await listen(app);
    const socket = open(app);
    const counts = new Set<number>();
    for (let turn = 0; turn < 15; turn++) {
      socket.write(raw(turn));
      await once(socket, 'data');
      counts.add(arrivals[turn]!.reply.raw.req.socket.listenerCount('close'));
    }
    expect(passed.at(-1)!.delayMs).toBe(14);
    expect(counts.size).toBe(1);
  });

  test('delays HTTP/2 requests', async () => {
    const { app, arrivals, passed } = await create({ limits: queue }, { http2: true } as never);
    const session = connectHttp2(await listen(app));
    const replies = ['0', '1', '2'].map((name) => text(session.request({ ':path': `/${name}` })));
    expect(await Promise.all(replies)).toEqual(['0', '1', '2']);
    for (const [turn, { atMs }] of passed.entries()) {
      expect(atMs - arrivals[turn]!.atMs).toBeGreaterThanOrEqual(turn * INTERVAL_MS - 0.001);
    }
    session.close();
  });

  test('drops HTTP/2 requests that the client cancels, even HEAD', async () => {
    const { app, passed, delayMs } = await create({ limits: slowQueue }, { http2: true } as never);
    const session = connectHttp2(await listen(app));
    await text(session.request({ ':path': '/first' }));
    for (const method of ['GET', 'HEAD']) {
      const canceled = session.request({ ':path': '/canceled', ':method': method });
      await until(async () => (await delayMs()) === 2 * HOUR_MS);
      canceled.close(8);
      await until(async () => (await delayMs()) === HOUR_MS);
    }
    expect(passed.map(({ name }) => name)).toEqual(['first']);
    session.close();
  });

  test.each(['canceled', 'lost'])('detects over HTTP/2, even with a large body, that a request was %s', async (how) => {
    const { app, passed, delayMs } = await create({ limits: slowQueue }, { http2: true } as never);
    const address = await listen(app);
    const socket = open(app);
    const session = connectHttp2(address, { createConnection: () => socket }).on('error', () => {});
    await text(session.request({ ':path': '/first' }));
    const leaving = session.request({ ':path': '/leaving', ':method': 'POST' }).on('error', () => {});
    leaving.write(Buffer.alloc(1_000_000));
    await until(async () => (await delayMs()) === 2 * HOUR_MS);
    if (how === 'canceled') leaving.close(8);
    else socket.destroy();
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['first']);
    session.destroy();
  });

  test('frees every start of an HTTP/2 connection that is lost', async () => {
    const { app, arrivals, passed, delayMs } = await create({ limits: slowQueue }, { http2: true } as never);
    const address = await listen(app);
    const socket = open(app);
    const session = connectHttp2(address, { createConnection: () => socket }).on('error', () => {});
    const streams = ['0', '1', '2', '3'].map((name) => session.request({ ':path': `/${name}` }).on('error', () => {}));
    await text(streams[0]!);
    await until(() => arrivals.length === 4);
    socket.destroy();
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['0']);
  });

  test('drops a request at once when other code responds, and frees its start', async () => {
    const { app, arrivals, passed, delayMs } = await create({ limits: slowQueue });
    const address = await listen(app);
    await fetch(`${address}/first`);
    const delayed = fetch(`${address}/delayed`);
    await until(() => arrivals.length === 2);
    arrivals[1]!.reply.code(503).send('too slow');
    expect((await delayed).status).toBe(503);
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['first']);
  });

  test('frees the start of a request with a response during the decision', async () => {
    const memory = atOnce();
    const replies: (() => void)[] = [];
    const check = (...args: Parameters<Store['check']>) => {
      const decision = memory.check(...args);
      return new Promise<Decision>((resolve) => replies.push(() => resolve(decision)));
    };
    const store = later({ check }, memory);
    const { app, arrivals, passed, delayMs } = await create({ limits: slowQueue, store, timeout: '1h' });
    const address = await listen(app);
    const first = fetch(`${address}/first`);
    await until(() => replies.length === 1);
    replies[0]!();
    await first;
    const late = fetch(`${address}/late`);
    await until(() => replies.length === 2);
    expect(await delayMs()).toBe(2 * HOUR_MS);
    arrivals[1]!.reply.code(503).send('too slow');
    expect((await late).status).toBe(503);
    replies[1]!();
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['first']);
  });

  test.each([
    ['onRequest', 60_000, true],
    ['onRequest', 100_000, false],
    ['preParsing', 100_000, false],
    ['preValidation', 100_000, true],
    ['preHandler', 100_000, true],
  ] as const)('in the hook %s, a disconnect behind a body of %d bytes is detected: %p', async (...args) => {
    const [hook, bytes, isDetected] = args;
    const { app, arrivals, passed, delayMs } = await create({ limits: slowQueue, hook });
    await fetch(`${await listen(app)}/first`);
    const [leaving, other] = [open(app), open(app)];
    const type = 'Content-Type: text/plain\r\n';
    leaving.write(`POST /leaving HTTP/1.1\r\nHost: here\r\n${type}Content-Length: ${bytes}\r\n\r\n`);
    await new Promise((resolve) => leaving.write('x'.repeat(bytes), resolve));
    await until(async () => (await delayMs()) === 2 * HOUR_MS);
    leaving.destroy();
    await once(leaving, 'close');
    if (isDetected) await until(async () => (await delayMs()) === HOUR_MS);
    other.write(raw('other'));
    await until(() => arrivals.length === 3);
    other.destroy();
    await until(() => arrivals[2]!.reply.raw.req.socket.destroyed);
    await until(async () => (await delayMs()) === (isDetected ? HOUR_MS : 2 * HOUR_MS));
    expect(arrivals[1]!.reply.raw.req.socket.destroyed).toBe(isDetected);
    expect(passed.map(({ name }) => name)).toEqual(['first']);
  });

  test('continues delayed requests while the app closes', async () => {
    const { app, arrivals, passed } = await create({ limits: queue }, { forceCloseConnections: 'idle' });
    await listen(app);
    const replies = [0, 1, 2].map((name) => {
      const socket = open(app);
      socket.write(raw(name, 'Connection: close\r\n'));
      return text(socket);
    });
    await until(() => arrivals.length === 3);
    await app.close();
    for (const response of await Promise.all(replies)) expect(response).toMatch(/^HTTP\/1\.1 200/);
    expect(passed).toHaveLength(3);
  });
});
