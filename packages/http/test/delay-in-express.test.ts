import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Decision, type Limit, leakyBucket, MemoryStore, rollingWindow, type Store } from '@rollgate/core';
import { type RateLimitMiddleware, rateLimit } from '@rollgate/express';
import { storeWith, until } from '@rollgate/host-tests/express-servers';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import express5, { type RequestHandler, type Response } from 'express';
import express4 from 'express4';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const INTERVAL_MS = 100;
/** For a busy machine. */
const LONGEST_INTERVAL_MS = 10_000;
const HOUR_MS = 3_600_000;
const queue = leakyBucket({ capacity: 3, interval: INTERVAL_MS });
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });

/** Its clock stands still, so the number of requests in an interval does not depend on the machine's speed. */
const atOnce = () => new MemoryStore({ clock });

const later = (methods: Partial<Store> = {}, memory = atOnce()) => storeWith(methods, memory);

const raw = (name: string | number, fields = '') => `GET /${name} HTTP/1.1\r\nHost: here\r\n${fields}\r\n`;

/** A store that decides at once, and responds when the test releases it. */
function slow() {
  const memory = atOnce();
  const replies: (() => void)[] = [];
  const check = (...args: Parameters<Store['check']>) => {
    const decision = memory.check(...args);
    return new Promise<Decision>((resolve) => replies.push(() => resolve(decision)));
  };
  return { store: later({ check }, memory), replies };
}

/** Rejects the fifth request even when the process was busy for so long that the queue has room again. */
const fourRequests = rollingWindow({ limit: 4, window: '1h' });

/** A request whose body has been sent as far as the server's system accepts it. */
async function post(socket: Socket, name: string, bytes: number): Promise<void> {
  socket.write(`POST /${name} HTTP/1.1\r\nHost: here\r\nContent-Length: ${bytes}\r\n\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(bytes), resolve));
}

interface Options {
  limits: Limit | Record<string, Limit>;
  store?: Store;
  timeout?: string;
  key?: () => string | Promise<string>;
  /** The middlewares before the limit. */
  before?: RequestHandler;
}

describe.each([
  ['5', express5],
  ['4', express4],
])('a queue in Express %s', (_, express) => {
  /** A server that records which requests arrived and which continued, and when. */
  async function serve({ before, ...options }: Options) {
    const arrivals: { name: string; atMs: number; response: Response; socket: Socket }[] = [];
    const passed: { name: string; atMs: number; delayMs: number | undefined; context: string | undefined }[] = [];
    const context = new AsyncLocalStorage<string>();
    const limit: RateLimitMiddleware = rateLimit({ key: () => 'all', ...options });
    const app = express();
    app.use((request, response, next) => {
      const name = request.path.slice(1);
      arrivals.push({ name, atMs: performance.now(), response, socket: request.socket });
      context.run(name, next);
    });
    if (before !== undefined) app.use(before);
    app.use(limit);
    app.use((request, response) => {
      const name = request.path.slice(1);
      passed.push({ name, atMs: performance.now(), delayMs: request.rateLimit?.delayMs, context: context.getStore() });
      if (response.headersSent) response.end(`, ${name}`);
      else response.send(name);
    });
    const server = createServer(app);
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const send = (name: string | number) => fetch(`http://127.0.0.1:${port}/${name}`);
    const open = () => connect(port, '127.0.0.1').on('error', () => {});
    /** Returns how long the next request would be delayed. */
    const delayMs = async () => (await limit.limiter.peek('all')).delayMs;
    return { server, port, arrivals, passed, limit, send, open, delayMs };
  }

  test.each([
    ['at once', atOnce],
    ['later', later],
  ])(
    'continues one request per interval, in order, and rejects requests when it is full, with a store that responds %s',
    async (_, store) => {
      const { arrivals, passed, send } = await serve({ limits: queue, store: store() });
      const replies = await Promise.all([0, 1, 2, 3, 4].map(send));
      const order = arrivals.map(({ name }) => name);
      passed.sort((one, other) => one.delayMs! - other.delayMs!); // Timers that are due at once run in any order.
      expect(passed.map(({ name }) => name)).toEqual(order.slice(0, 4));
      for (const [index, { atMs }] of passed.entries()) {
        expect(atMs - arrivals[index]!.atMs).toBeGreaterThanOrEqual(index * INTERVAL_MS - 0.001);
      }
      expect(passed.map(({ delayMs }) => delayMs)).toEqual([0, 1, 2, 3].map((turn) => turn * INTERVAL_MS));
      expect(order.map((name) => replies[Number(name)]!.status)).toEqual([200, 200, 200, 200, 429]);
      expect(order.map((name) => replies[Number(name)]!.headers.get('x-ratelimit-remaining'))).toEqual([
        '3',
        '2',
        '1',
        '0',
        '0',
      ]);
      expect(replies[Number(order[4])]!.headers.get('retry-after')).toBe('1');
      now += INTERVAL_MS - 0.001;
      expect((await send(5)).status).toBe(429);
      now += 0.001;
      expect((await send(6)).status).toBe(200);
    },
  );

  test('delays by real time, even in a pipeline', async () => {
    const { arrivals, passed, open } = await serve({ limits: { queue, fourRequests } });
    const socket = open();
    socket.write(raw(0) + raw(1) + raw(2) + raw(3) + raw(4, 'Connection: close\r\n'));
    const responses = await text(socket);
    expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual([200, 200, 200, 200, 429].map((status) => `HTTP/1.1 ${status}`));
    // After a pause of the process, several timers are due at once, in any order.
    expect(passed.map(({ name }) => name).sort()).toEqual(['0', '1', '2', '3']);
    for (const { name, atMs } of passed) {
      expect(atMs - arrivals[0]!.atMs).toBeGreaterThanOrEqual(Number(name) * INTERVAL_MS - 0.001);
    }
  });

  test('continues each request in its own async context', async () => {
    const { passed, send } = await serve({ limits: queue, store: later() });
    await Promise.all([0, 1, 2, 3].map(send));
    expect(passed.map(({ context }) => context)).toEqual(passed.map(({ name }) => name));
  });

  test.each([
    ['at once', atOnce],
    ['later', later],
  ])(
    'drops a request whose client disconnects, and frees the last start, with a store that responds %s',
    async (_, store) => {
      const { arrivals, passed, send, open, delayMs } = await serve({ limits: slowQueue, store: store() });
      await send('first');
      const [leaving, alsoLeaving] = [open(), open()];
      leaving.write(raw('leaving'));
      await until(async () => (await delayMs()) === 2 * HOUR_MS);
      alsoLeaving.write(raw('also-leaving'));
      await until(async () => (await delayMs()) === 3 * HOUR_MS);
      alsoLeaving.destroy();
      await until(async () => (await delayMs()) === 2 * HOUR_MS);
      leaving.destroy();
      await until(async () => (await delayMs()) === HOUR_MS);
      expect(arrivals).toHaveLength(3);
      expect(passed.map(({ name }) => name)).toEqual(['first']);
    },
  );

  test('keeps the starts of requests behind a disconnected one', async () => {
    for (let intervalMs = INTERVAL_MS; ; intervalMs *= 2) {
      const limits = leakyBucket({ capacity: 3, interval: `${intervalMs}ms` });
      const { arrivals, passed, send, open } = await serve({ limits, store: atOnce() });
      await send(0);
      const leaving = open();
      leaving.write(raw('leaving'));
      await until(() => arrivals.length === 2);
      const behind = send(2);
      await until(() => arrivals.length === 3);
      leaving.destroy();
      expect((await behind).status).toBe(200);
      const names = passed.map(({ name }) => name);
      // On a busy machine, the start of the request may come before its client leaves.
      if (names.includes('leaving') && intervalMs < LONGEST_INTERVAL_MS) continue;
      expect(names).toEqual(['0', '2']);
      expect(passed[1]!.atMs - arrivals[2]!.atMs).toBeGreaterThanOrEqual(2 * intervalMs - 0.001);
      return;
    }
  });

  test('frees every start of a pipeline whose client disconnects', async () => {
    const { arrivals, passed, limit, open, delayMs } = await serve({ limits: slowQueue, store: atOnce() });
    const socket = open();
    socket.write(raw(0) + raw(1) + raw(2) + raw(3));
    await until(() => arrivals.length === 4);
    expect((await limit.limiter.peek('all')).remaining).toBe(0);
    socket.destroy();
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['0']);
  });

  test('adds one listener to a socket for all its delayed requests, and removes it', async () => {
    const limits = leakyBucket({ capacity: 30, interval: 1 });
    const { arrivals, passed, open } = await serve({ limits, store: atOnce() });
    const socket = open();
    socket.write(raw('first'));
    await until(() => passed.length === 1);
    const before = arrivals[0]!.socket.listenerCount('close');
    socket.write(Array.from({ length: 20 }, (_, name) => raw(name)).join(''));
    await until(() => arrivals.length === 21);
    // In addition to Node's own for the response that is being sent.
    expect(arrivals[0]!.socket.listenerCount('close')).toBeLessThanOrEqual(before + 2);
    await until(() => passed.length === 21);
    await until(() => arrivals[20]!.response.writableFinished);
    await flushPromises();
    expect(arrivals[0]!.socket.listenerCount('close')).toBe(before);
    for (const { response } of arrivals)
      expect(response.listenerCount('close')).toBe(arrivals[0]!.response.listenerCount('close'));
    socket.destroy();
  });

  test('leaves no listener on a keep-alive connection', async () => {
    const { arrivals, passed, port } = await serve({
      limits: leakyBucket({ capacity: 30, interval: 1 }),
      store: atOnce(),
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const counts = new Set<number>();
    for (let turn = 0; turn < 15; turn++) {
      const clientRequest = get({ port, agent, path: `/${turn}` });
      const [reply] = (await once(clientRequest, 'response')) as [IncomingMessage];
      await text(reply);
      counts.add(arrivals[turn]!.socket.listenerCount('close'));
    }
    agent.destroy();
    expect(new Set(arrivals.map(({ socket }) => socket)).size).toBe(1);
    expect(passed.at(-1)!.delayMs).toBe(14);
    expect(counts.size).toBe(1);
  });

  test('drops a request whose client disconnected during the decision', async () => {
    let resolveKey!: (key: string) => void;
    const key = () =>
      new Promise<string>((resolve) => {
        resolveKey = resolve;
      });
    const { arrivals, passed, limit, open, delayMs } = await serve({ limits: slowQueue, store: atOnce(), key });
    await limit.limiter.check('all');
    const socket = open();
    socket.write(raw('leaving'));
    await until(() => arrivals.length === 1);
    socket.destroy();
    await until(() => arrivals[0]!.socket.destroyed);
    resolveKey('all');
    await flushPromises();
    expect(await delayMs()).toBe(HOUR_MS);
    expect(passed).toEqual([]);
  });

  test('drops a request at once when other code responds, and frees its start', async () => {
    const { arrivals, passed, send, delayMs } = await serve({ limits: slowQueue, store: atOnce() });
    await send('first');
    const delayed = send('delayed');
    await until(async () => (await delayMs()) === 2 * HOUR_MS);
    arrivals[1]!.response.status(503).send('too slow');
    expect((await delayed).status).toBe(503);
    await until(async () => (await delayMs()) === HOUR_MS);
    expect(passed.map(({ name }) => name)).toEqual(['first']);
  });

  test.each([
    ['a queue frees the start', slowQueue, 3, 3],
    ['a limit without a queue keeps the unit', rollingWindow({ limit: 3, window: '1h' }), 2, 1],
  ])('after a response during the decision, %s', async (_, limits, before, after) => {
    const { store, replies } = slow();
    const { arrivals, passed, limit, send } = await serve({ limits, store, timeout: '1h' });
    const remaining = async () => (await limit.limiter.peek('all')).remaining;
    const first = send('first');
    await until(() => replies.length === 1);
    replies[0]!();
    await first;
    expect(await remaining()).toBe(before);
    const late = send('late');
    await until(() => replies.length === 2);
    expect(await remaining()).toBe(before - 1);
    arrivals[1]!.response.status(503).send('too slow');
    expect((await late).status).toBe(503);
    replies[1]!();
    await flushPromises();
    expect(await remaining()).toBe(after);
    expect(passed.map(({ name }) => name)).toEqual(['first']);
  });

  describe('of a client that disconnects before its body is read', () => {
    async function leave(bytes: number, options: Partial<Options> = {}) {
      const served = await serve({ limits: slowQueue, store: atOnce(), ...options });
      await served.send('first');
      const leaving = served.open();
      await post(leaving, 'leaving', bytes);
      await until(async () => (await served.delayMs()) === 2 * HOUR_MS);
      leaving.destroy();
      await once(leaving, 'close');
      return served;
    }

    test('detects a disconnect behind a body that Node buffers', async () => {
      const { delayMs, passed } = await leave(60_000);
      await until(async () => (await delayMs()) === HOUR_MS);
      expect(passed.map(({ name }) => name)).toEqual(['first']);
    });

    test('does not detect one behind a larger body, and keeps the start', async () => {
      const { arrivals, open, delayMs } = await leave(100_000);
      const other = open();
      other.write(raw('other'));
      await until(() => arrivals.length === 3);
      other.destroy();
      await until(async () => arrivals[2]!.socket.destroyed && (await delayMs()) === 2 * HOUR_MS);
      expect(arrivals[1]!.socket.destroyed).toBe(false);
    });

    test('continues the request with a larger body at its start', async () => {
      const { arrivals, passed, send, open } = await serve({ limits: queue, store: atOnce() });
      await send(0);
      const leaving = open();
      await post(leaving, 'leaving', 100_000);
      await until(() => arrivals.length === 2);
      leaving.destroy();
      expect((await send(2)).status).toBe(200);
      expect(passed.map(({ name }) => name)).toEqual(['0', 'leaving', '2']);
      expect(passed[2]!.atMs - arrivals[2]!.atMs).toBeGreaterThanOrEqual(2 * INTERVAL_MS - 0.001);
    });

    test('detects any disconnect after a body parser', async () => {
      const { delayMs, passed } = await leave(100_000, { before: express.raw({ type: () => true, limit: '1mb' }) });
      await until(async () => (await delayMs()) === HOUR_MS);
      expect(passed.map(({ name }) => name)).toEqual(['first']);
    });
  });

  test('continues a request whose response started during its delay, without headers', async () => {
    const before: RequestHandler = (request, response, next) => {
      if (request.path === '/1') queueMicrotask(() => response.write('one moment')); // The limit decides in `next`.
      next();
    };
    const { passed, send } = await serve({ limits: queue, store: atOnce(), before });
    await send(0);
    expect(await (await send(1)).text()).toBe('one moment, 1');
    expect(passed.map(({ name }) => name)).toEqual(['0', '1']);
  });

  test('continues delayed requests while the server closes', async () => {
    const { server, arrivals, passed, send } = await serve({ limits: queue, store: atOnce() });
    const replies = [0, 1, 2].map(send);
    await until(() => arrivals.length === 3);
    const closed = once(server, 'close');
    server.close();
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200]);
    server.closeIdleConnections();
    await closed;
    expect(passed).toHaveLength(3);
  });

  describe('with a store whose refunds fail', () => {
    silenceOutages();

    test('drops requests of disconnected clients all the same', async () => {
      const failed: unknown[] = [];
      const refund = async (receipt: unknown) => {
        failed.push(receipt);
        throw new Error('no connection');
      };
      const { passed, send, open, delayMs } = await serve({ limits: slowQueue, store: later({ refund }) });
      await send('first');
      const leaving = open();
      leaving.write(raw('leaving'));
      await until(async () => (await delayMs()) === 2 * HOUR_MS);
      leaving.destroy();
      await until(() => failed.length === 1);
      await flushPromises();
      expect(passed.map(({ name }) => name)).toEqual(['first']);
    });
  });
});
