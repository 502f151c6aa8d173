import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Decision, leakyBucket, MemoryStore, rollingWindow, type Store } from '@rollgate/core';
import { clock, memory, storeWith, until } from '@rollgate/host-tests/test-stores';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { limitWith, raw, type ServerParts, serve } from './support/node-host.js';

silenceOutages();

const INTERVAL_MS = 100;
/** For a busy machine. */
const LONGEST_INTERVAL_MS = 10_000;
const HOUR_MS = 3_600_000;
const DELAYED_COUNT = 90;
const queue = leakyBucket({ capacity: 3, interval: `${INTERVAL_MS}ms` });
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });
const longQueue = leakyBucket({ capacity: DELAYED_COUNT, interval: '1h' });
const fastQueue = leakyBucket({ capacity: 30, interval: 1 });

/** Stores whose clock stands still, so that no test depends on the speed of the machine. */
const STORES = [
  ['at once', () => memory()],
  ['later', () => storeWith({})],
] as const;

/** Sends a body as far as the server's system accepts it. */
async function post(socket: Socket, path: string, bytes: number): Promise<void> {
  socket.write(`POST ${path} HTTP/1.1\r\nHost: here\r\nContent-Length: ${bytes}\r\n\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(bytes), resolve));
}

/** Starts a server that responds to each request with its path. */
async function serveQueue(options: object, parts: ServerParts = {}) {
  const delays: (number | undefined)[] = [];
  const limit = limitWith({ limits: slowQueue, key: () => 'all', ...options });
  const served = await serve([limit], {
    handler(request, response) {
      delays.push(request.rateLimit?.delayMs);
      response.end(request.url);
    },
    ...parts,
  });
  /** Waits until the next request would be delayed by this many hours. */
  const hoursLeft = (hours: number) => until(async () => (await limit.limiter.peek('all')).delayMs === hours * HOUR_MS);
  const remaining = async () => (await limit.limiter.peek('all')).remaining;
  return { ...served, delays, limit, hoursLeft, remaining };
}

test.each(STORES)(
  'a queue starts one request per interval, in order, and rejects when it is full, with a store that responds %s',
  async (_, store) => {
    const { arrivals, passed, delays, send, statuses } = await serveQueue({ limits: queue, store: store() });
    const replies = await Promise.all(['/0', '/1', '/2', '/3', '/4'].map((path) => send(path)));
    const order = arrivals.map(({ request }) => request.url!);
    // Timers that are due at once run in any order.
    const started = passed.map((each, index) => ({ ...each, delayMs: delays[index]! }));
    started.sort((one, other) => one.delayMs - other.delayMs);
    expect(started.map(({ request }) => request.url)).toEqual(order.slice(0, 4));
    for (const [index, { atMs }] of started.entries()) {
      expect(atMs - arrivals[index]!.atMs).toBeGreaterThanOrEqual(index * INTERVAL_MS - 0.001);
    }
    expect(started.map(({ delayMs }) => delayMs)).toEqual([0, 1, 2, 3].map((turn) => turn * INTERVAL_MS));
    const inOrder = order.map((path) => replies[Number(path.slice(1))]!);
    expect(inOrder.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(inOrder.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['3', '2', '1', '0', '0']);
    expect(inOrder[4]!.headers.get('retry-after')).toBe('1');
    clock.ms += INTERVAL_MS - 0.001;
    expect(await statuses('/5')).toEqual([429]);
    clock.ms += 0.001;
    expect(await statuses('/6')).toEqual([200]);
  },
);

test('a queue delays by real time, even in a pipeline', async () => {
  // Rejects the fifth request even when the process was busy for so long that the queue has room again.
  const fourRequests = rollingWindow({ limit: 4, window: '1h' });
  const { arrivals, passed, open } = await serveQueue({ limits: { queue, fourRequests }, store: new MemoryStore() });
  const socket = open();
  socket.write(raw('/0') + raw('/1') + raw('/2') + raw('/3') + raw('/4', 'Connection: close\r\n'));
  const responses = await text(socket);
  expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual([200, 200, 200, 200, 429].map((status) => `HTTP/1.1 ${status}`));
  // After a pause of the process, several timers are due at once, in any order.
  expect(passed.map(({ request }) => request.url).sort()).toEqual(['/0', '/1', '/2', '/3']);
  for (const { request, atMs } of passed) {
    expect(atMs - arrivals[0]!.atMs).toBeGreaterThanOrEqual(Number(request.url!.slice(1)) * INTERVAL_MS - 0.001);
  }
});

test('a delayed request continues in its own async context', async () => {
  const context = new AsyncLocalStorage<string>();
  const contexts: unknown[][] = [];
  const { send } = await serveQueue(
    { limits: queue, store: storeWith({}) },
    {
      before: ({ url }) => context.enterWith(url!),
      handler(request, response) {
        contexts.push([request.url, context.getStore()]);
        response.end();
      },
    },
  );
  await Promise.all(['/0', '/1', '/2', '/3'].map((path) => send(path)));
  expect(contexts).toHaveLength(4);
  for (const [url, stored] of contexts) expect(stored).toBe(url);
});

describe.each(STORES)('with a store that responds %s', (_, store) => {
  test('a request whose client disconnects is dropped, which frees the last start', async () => {
    const { arrivals, send, open, hoursLeft, passedPaths } = await serveQueue({ store: store() });
    await send('/first');
    const [leaving, alsoLeaving] = [open(), open()];
    leaving.write(raw('/leaving'));
    await hoursLeft(2);
    alsoLeaving.write(raw('/also-leaving'));
    await hoursLeft(3);
    alsoLeaving.destroy();
    await hoursLeft(2);
    leaving.destroy();
    await hoursLeft(1);
    expect(arrivals).toHaveLength(3);
    expect(passedPaths()).toEqual(['/first']);
  });

  test('all starts are free when a pipeline is cut', async () => {
    const { open, send, remaining, hoursLeft, passedPaths } = await serveQueue({ limits: longQueue, store: store() });
    await send('/first');
    const socket = open();
    socket.write(raw('/').repeat(DELAYED_COUNT));
    await until(async () => (await remaining()) === 0);
    socket.destroy();
    await hoursLeft(1);
    expect(passedPaths()).toEqual(['/first']);
  });

  test('all starts are free when sockets close in any order', async () => {
    const { open, send, remaining, hoursLeft } = await serveQueue({ limits: longQueue, store: store() });
    await send('/first');
    const sockets = Array.from({ length: DELAYED_COUNT }, open);
    for (const socket of sockets) socket.write(raw('/'));
    await until(async () => (await remaining()) === 0);
    await closeInAnyOrder(sockets, (socket) => socket.destroy());
    await hoursLeft(1);
  });
});

/** Closes some at once and others later. A step without a common factor with their number visits each of them once. */
async function closeInAnyOrder<Item>(items: Item[], close: (item: Item) => void): Promise<void> {
  for (let turn = 0; turn < items.length; turn++) {
    close(items[(turn * 37) % items.length]!);
    if (turn % 10 === 0) await flushPromises();
  }
}

test('the starts of requests behind a disconnected one stay', async () => {
  for (let intervalMs = INTERVAL_MS; ; intervalMs *= 2) {
    const limits = leakyBucket({ capacity: 3, interval: `${intervalMs}ms` });
    const { arrivals, passed, send, open, passedPaths } = await serveQueue({ limits });
    await send('/0');
    const leaving = open();
    leaving.write(raw('/leaving'));
    await until(() => arrivals.length === 2);
    const behind = send('/2');
    await until(() => arrivals.length === 3);
    leaving.destroy();
    expect((await behind).status).toBe(200);
    // On a busy machine, the start of the request may come before its client leaves.
    if (passedPaths().includes('/leaving') && intervalMs < LONGEST_INTERVAL_MS) continue;
    expect(passedPaths()).toEqual(['/0', '/2']);
    expect(passed[1]!.atMs - arrivals[2]!.atMs).toBeGreaterThanOrEqual(2 * intervalMs - 0.001);
    return;
  }
});

test('a socket has one listener for all its delayed requests, which is removed', async () => {
  const { arrivals, passed, open } = await serveQueue({ limits: fastQueue });
  const socket = open();
  socket.write(raw('/first'));
  await until(() => passed.length === 1);
  const { request, response } = arrivals[0]!;
  const before = request.socket.listenerCount('close');
  socket.write(raw('/').repeat(20));
  await until(() => arrivals.length === 21);
  // In addition to Node's own for the response that is being sent.
  expect(request.socket.listenerCount('close')).toBeLessThanOrEqual(before + 2);
  await until(() => passed.length === 21 && arrivals[20]!.response.writableFinished);
  await flushPromises();
  expect(request.socket.listenerCount('close')).toBe(before);
  for (const later of arrivals) {
    expect(later.response.listenerCount('close')).toBe(response.listenerCount('close'));
  }
  socket.destroy();
});

test('a keep-alive connection keeps no listener', async () => {
  const { arrivals, delays, port } = await serveQueue({ limits: fastQueue });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const counts = new Set<number>();
  for (let turn = 0; turn < 15; turn++) {
    const [reply] = (await once(get({ port, agent, path: `/${turn}` }), 'response')) as [IncomingMessage];
    await text(reply);
    counts.add(arrivals[turn]!.request.socket.listenerCount('close'));
  }
  agent.destroy();
  expect(new Set(arrivals.map(({ request }) => request.socket)).size).toBe(1);
  expect([delays.at(-1), counts.size]).toEqual([14, 1]);
});

test('a request whose client disconnected during the decision is dropped', async () => {
  let resolveKey!: (key: string) => void;
  const key = () =>
    new Promise<string>((resolve) => {
      resolveKey = resolve;
    });
  const { arrivals, passed, limit, open, hoursLeft } = await serveQueue({ key });
  await limit.limiter.check('all');
  const socket = open();
  socket.write(raw('/leaving'));
  await until(() => arrivals.length === 1);
  socket.destroy();
  await until(() => arrivals[0]!.request.socket.destroyed);
  resolveKey('all');
  await flushPromises();
  await hoursLeft(1);
  expect(passed).toEqual([]);
});

test('a request to which other code responds is dropped at once, which frees its start', async () => {
  const { arrivals, send, hoursLeft, passedPaths } = await serveQueue({});
  await send('/first');
  const delayed = send('/delayed');
  await hoursLeft(2);
  arrivals[1]!.response.writeHead(503).end('too slow');
  expect((await delayed).status).toBe(503);
  await hoursLeft(1);
  expect(passedPaths()).toEqual(['/first']);
});

test.each([
  ['a queue frees the start', slowQueue, 3, 3],
  ['a limit without a queue keeps the unit', rollingWindow({ limit: 3, window: '1h' }), 2, 1],
])('after a response during the decision, %s', async (_, limits, before, after) => {
  const inner = memory();
  const replies: (() => void)[] = [];
  const check = (...args: Parameters<Store['check']>) => {
    const decision = inner.check(...args);
    return new Promise<Decision>((resolve) => replies.push(() => resolve(decision)));
  };
  const store = storeWith({ check }, inner);
  const { arrivals, send, remaining, passedPaths } = await serveQueue({ limits, store, timeout: '1h' });
  const first = send('/first');
  await until(() => replies.length === 1);
  replies[0]!();
  await first;
  expect(await remaining()).toBe(before);
  const late = send('/late');
  await until(() => replies.length === 2);
  expect(await remaining()).toBe(before - 1);
  arrivals[1]!.response.writeHead(503).end('too slow');
  expect((await late).status).toBe(503);
  replies[1]!();
  await flushPromises();
  expect(await remaining()).toBe(after);
  expect(passedPaths()).toEqual(['/first']);
});

describe('a client that disconnects before its body is read', () => {
  async function leave(bytes: number, parts?: ServerParts) {
    const served = await serveQueue({}, parts);
    await served.send('/first');
    const leaving = served.open();
    await post(leaving, '/leaving', bytes);
    await served.hoursLeft(2);
    leaving.destroy();
    await once(leaving, 'close');
    return served;
  }

  test.each([
    ['Node buffers', 60_000, {}],
    ['other code reads', 1_000_000, { before: (request: IncomingMessage) => void request.resume() }],
  ])('is detected behind a body that %s', async (_, bytes, parts) => {
    const { hoursLeft, passedPaths } = await leave(bytes, parts);
    await hoursLeft(1);
    expect(passedPaths()).toEqual(['/first']);
  });

  test('is not detected behind a larger body, and its start stays', async () => {
    const { arrivals, open, hoursLeft } = await leave(1_000_000);
    const other = open();
    other.write(raw('/other'));
    await until(() => arrivals.length === 3);
    other.destroy();
    await until(() => arrivals[2]!.request.socket.destroyed);
    await hoursLeft(2);
    expect(arrivals[1]!.request.socket.destroyed).toBe(false);
  });

  test('and whose disconnect is not detected gets its start', async () => {
    const { arrivals, passed, send, open, passedPaths } = await serveQueue({ limits: queue });
    await send('/0');
    const leaving = open();
    await post(leaving, '/leaving', 1_000_000);
    await until(() => arrivals.length === 2);
    leaving.destroy();
    expect((await send('/2')).status).toBe(200);
    expect(passedPaths()).toEqual(['/0', '/leaving', '/2']);
    expect(passed[2]!.atMs - arrivals[2]!.atMs).toBeGreaterThanOrEqual(2 * INTERVAL_MS - 0.001);
  });
});

test('a request whose response started during its delay continues, without headers', async () => {
  const { send, passedPaths } = await serveQueue(
    { limits: queue },
    {
      before(request, response) {
        if (request.url === '/1') queueMicrotask(() => response.write('one moment, '));
      },
    },
  );
  await send('/0');
  expect(await (await send('/1')).text()).toBe('one moment, /1');
  expect(passedPaths()).toEqual(['/0', '/1']);
});

test('delayed requests continue while the server closes', async () => {
  const { server, arrivals, passed, open } = await serveQueue({ limits: queue });
  const replies = ['/0', '/1', '/2'].map((path) => {
    const socket = open();
    socket.write(raw(path, 'Connection: close\r\n'));
    return text(socket);
  });
  await until(() => arrivals.length === 3);
  server.close();
  for (const response of await Promise.all(replies)) expect(response).toMatch(/^HTTP\/1\.1 200/);
  expect(passed).toHaveLength(3);
});

test('requests of disconnected clients are dropped even if the refund fails', async () => {
  const refund = jest.fn(() => Promise.reject(new Error('no connection')));
  const { send, open, hoursLeft, passedPaths } = await serveQueue({ store: storeWith({ refund }) });
  await send('/first');
  const leaving = open();
  leaving.write(raw('/leaving'));
  await hoursLeft(2);
  leaving.destroy();
  await until(() => refund.mock.calls.length === 1);
  await flushPromises();
  expect(passedPaths()).toEqual(['/first']);
});

describe('over HTTP/2', () => {
  let session: ClientHttp2Session;
  afterEach(() => session.destroy());

  async function serveHttp2(options: object) {
    const served = await serveQueue(options, { isHttp2: true });
    const socket = served.open();
    session = connectHttp2(`http://127.0.0.1:${served.port}`, { createConnection: () => socket });
    session.on('error', () => {});
    const open = (path: string, method = 'GET') =>
      session.request({ ':path': path, ':method': method }).on('error', () => {});
    return { ...served, socket, open };
  }

  test.each([
    ['GET', 'canceled'],
    ['HEAD', 'canceled'],
    ['POST', 'canceled'],
    ['POST', 'lost'],
  ])('a %s request that is %s is dropped, even with a large body', async (method, how) => {
    const { open, socket, hoursLeft, passedPaths } = await serveHttp2({});
    await text(open('/first'));
    const leaving = open('/leaving', method);
    if (method === 'POST') leaving.write(Buffer.alloc(1_000_000));
    await hoursLeft(2);
    if (how === 'canceled') leaving.close(8);
    else socket.destroy();
    await hoursLeft(1);
    expect(passedPaths()).toEqual(['/first']);
  });

  test.each([
    ['the session is destroyed', () => session.destroy()],
    ['the connection is lost', (socket: Socket) => socket.destroy()],
    ['streams are reset in any order', () => {}],
  ])('all starts are free when %s', async (_, end) => {
    for (const [, store] of STORES) {
      const { open, socket, remaining, hoursLeft, passedPaths } = await serveHttp2({
        limits: longQueue,
        store: store(),
      });
      await text(open('/first'));
      const streams = Array.from({ length: DELAYED_COUNT }, () => open('/'));
      await until(async () => (await remaining()) === 0);
      end(socket);
      if (!session.destroyed && !socket.destroyed) await closeInAnyOrder(streams, (stream) => stream.close());
      await hoursLeft(1);
      expect(passedPaths()).toEqual(['/first']);
      session.destroy();
    }
  });
});
