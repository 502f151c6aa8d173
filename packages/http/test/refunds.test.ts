import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { type Calendar, LeasedCalendarWindow } from '@rollgate/calendar/window';
import { concurrency, rollingWindow, type Store } from '@rollgate/core';
import { clock, memory, storeWith, until } from '@rollgate/host-tests/test-stores';
import { settle } from '@rollgate/http';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createGate, type Options } from './support/fake-host.js';
import { limitWith, type NodeLimiter, type Response, raw, type ServerParts, serve } from './support/node-host.js';

const key = () => 'ann';

const window = '1h';

/** Returns the number of remaining units. */
const free = async ({ limiter }: NodeLimiter) => (await limiter.peek('ann')).remaining;
const isFree = (limit: NodeLimiter, units: number) => until(async () => (await free(limit)) === units);

/** Responds with the status in the path. */
const respondByPath: NonNullable<ServerParts['handler']> = (request, response) => {
  response.statusCode = Number(request.url!.slice(1));
  response.end();
};

async function serveRefunding(options: object, handler = respondByPath, parts: ServerParts = {}) {
  const limit = limitWith({ limit: 10, window, key, ...options });
  return { limit, ...(await serve([limit], { handler, ...parts })) };
}

/** A store that counts refunds. */
function countRefunds(isLater: boolean) {
  const inner = memory();
  const refunds = jest.spyOn(inner, 'refund');
  return { store: (isLater ? storeWith({}, inner) : inner) as Store, refunds };
}

test('headers that fail leave no slot taken', async () => {
  const limit = limitWith({ limits: concurrency({ limit: 1 }), key });
  const refuse = (): never => {
    throw new Error('no headers');
  };
  const { send, errors } = await serve([limit], {
    before(request, response) {
      if (request.url === '/refuse') response.setHeader = refuse;
    },
  });
  expect((await send('/refuse')).status).toBe(500);
  expect(errors.map(({ message }) => message)).toEqual(['no headers']);
  await isFree(limit, 1);
});

test('a request that one limiter checks for each message is remembered for its last check', async () => {
  const [limit, other] = [createGate({ limit: 10, window, key }), createGate({ limit: 10, window, key })];
  const connection = {};
  for (const gate of [limit, other, limit, other, limit]) await gate.judge(connection);
  const settlements = [limit, other].map(({ limiter }) => jest.spyOn(limiter, 'settle'));
  await settle(connection, { cost: 4 });
  expect(settlements.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  expect(await limit.limiter.peek('ann')).toMatchObject({ remaining: 4 });
  expect(await other.limiter.peek('ann')).toMatchObject({ remaining: 5 });
});

test.each([
  ['at once', false, 'skipSuccessfulRequests', { 200: 10, 204: 10, 304: 10, 399: 10, 400: 9, 404: 9, 500: 9 }],
  ['later', true, 'skipFailedRequests', { 200: 9, 204: 9, 304: 9, 399: 9, 400: 10, 404: 10, 500: 10 }],
] as const)('with a store that responds %s (%p), %s refunds by the status, once', async (_, isLater, option, left) => {
  for (const [status, remaining] of Object.entries(left)) {
    const { store, refunds } = countRefunds(isLater);
    const { send, limit } = await serveRefunding({ store, [option]: true });
    expect((await send(`/${status}`)).headers.get('x-ratelimit-remaining')).toBe('9');
    await isFree(limit, remaining);
    expect(refunds).toHaveBeenCalledTimes(remaining - 9);
  }
});

test('both together refund every request', async () => {
  const { limit, statuses } = await serveRefunding({
    skipSuccessfulRequests: true,
    skipFailedRequests: true,
    limit: 1,
  });
  for (const path of ['/200', '/200', '/500', '/500']) {
    expect(await statuses(path)).toEqual([Number(path.slice(1))]);
    await isFree(limit, 1);
  }
});

test.each([
  ['at once', (response: Response) => response.getHeader('x-kind') === 'cached'],
  ['with a promise', async (response: Response) => response.getHeader('x-kind') === 'cached'],
])('requestWasSuccessful decides %s, from the sent response', async (_, wasSuccessful) => {
  const evaluated: unknown[] = [];
  const requestWasSuccessful = (request: IncomingMessage, response: Response) => {
    evaluated.push([request.url, response.writableFinished]);
    return wasSuccessful(response);
  };
  const { send, limit } = await serveRefunding(
    { skipSuccessfulRequests: true, requestWasSuccessful },
    (request, response) => response.setHeader('X-Kind', request.url!.slice(1)).end('hello'),
  );
  await send('/fresh');
  await send('/cached');
  await until(async () => evaluated.length === 2 && (await free(limit)) === 9);
  expect(evaluated).toEqual([
    ['/fresh', true],
    ['/cached', true],
  ]);
});

test('refunds exactly the units of the request, in each limit', async () => {
  const limits = { burst: rollingWindow({ limit: 10, window: '1m' }), hourly: rollingWindow({ limit: 20, window }) };
  const query = ({ url }: IncomingMessage, name: string) => new URL(url!, 'http://here').searchParams.get(name)!;
  const limit = limitWith({
    limits,
    cost: (request: IncomingMessage) => Number(query(request, 'units')),
    key: (request: IncomingMessage) => ({ burst: query(request, 'user'), hourly: 'all' }),
    skipFailedRequests: true,
  });
  const { send } = await serve([limit], {
    handler: (request, response) => response.writeHead(request.url!.startsWith('/500') ? 500 : 200).end(),
  });
  const left = async (burst: string) =>
    Object.values((await limit.limiter.peek({ burst, hourly: 'all' })).limits).map(({ remaining }) => remaining);
  await send('/200?units=2&user=ann');
  clock.ms += 1000;
  await send('/200?units=3&user=bob');
  await send('/500?units=5&user=ann');
  await until(async () => (await left('ann'))[1] === 15);
  expect([await left('ann'), await left('bob')]).toEqual([
    [8, 15],
    [7, 15],
  ]);
  clock.ms += 59_000;
  expect(await left('ann')).toEqual([10, 15]);
});

test('rejected requests and those of other limiters are not refunded', async () => {
  const store = memory();
  const wide = limitWith({ limit: 10, window, key, store, prefix: 'wide' });
  const narrow = limitWith({ limit: 1, window, key, store, prefix: 'narrow', skipFailedRequests: true });
  const { statuses } = await serve([wide, narrow]);
  expect(await statuses('/', '/', '/')).toEqual([200, 429, 429]);
  expect([await free(narrow), await free(wide)]).toEqual([0, 7]);
});

test('a rejected request that counts stays counted', async () => {
  const { statuses } = await serveRefunding({ limit: 1, countRejected: true, skipFailedRequests: true });
  expect(await statuses('/200')).toEqual([200]);
  for (const _turn of [1, 2]) {
    clock.ms += 1_800_000;
    expect(await statuses('/200')).toEqual([429]);
  }
});

test('a request that a later limiter rejects is a failure for the one before', async () => {
  const first = limitWith({ limit: 10, window, key, skipFailedRequests: true });
  const { statuses } = await serve([first, limitWith({ limit: 1, window })]);
  expect(await statuses('/', '/', '/')).toEqual([200, 429, 429]);
  await isFree(first, 9);
});

test.each([
  [{ skipFailedRequests: true }, 9],
  [{ skipSuccessfulRequests: true }, 9],
  [{ skipFailedRequests: true, skipAbortedRequests: true }, 10],
])('a client that disconnects before the response, with %j', async (options, remaining) => {
  const requestWasSuccessful = jest.fn(() => true);
  const disconnections: Promise<unknown>[] = [];
  const { limit, open, passed } = await serveRefunding({ ...options, requestWasSuccessful }, (_, response) => {
    disconnections.push(once(response, 'close').then(() => response.end('too late')));
  });
  const socket = open();
  socket.write(raw('/leaving'));
  await until(() => passed.length === 1);
  expect(await free(limit)).toBe(9);
  socket.destroy();
  await disconnections[0];
  await flushPromises();
  expect(await free(limit)).toBe(remaining);
  expect(requestWasSuccessful).not.toHaveBeenCalled();
});

test.each([
  ['streamed and cut off half-way', (response: Response) => void response.write('half')],
  ['given in one piece and not all taken', (response: Response) => void response.end(Buffer.alloc(50_000_000))],
])('a response that is %s is aborted, neither failed nor successful', async (_, start) => {
  const both = { skipFailedRequests: true, skipSuccessfulRequests: true };
  for (const [options, remaining] of [
    [{ skipAbortedRequests: true }, 10],
    [both, 9],
  ] as const) {
    const { limit, open, passed } = await serveRefunding(options, (_request, response) => start(response));
    const socket = open();
    socket.write(raw('/'));
    await once(socket, 'data');
    expect(await free(limit)).toBe(9);
    socket.destroy();
    await until(() => passed[0]!.request.socket.destroyed);
    await flushPromises();
    await isFree(limit, remaining);
  }
});

test('a disconnect after the whole response changes nothing', async () => {
  const { limit, open, passed } = await serveRefunding({ skipAbortedRequests: true, skipFailedRequests: true });
  const socket = open();
  socket.write(raw('/200'));
  await once(socket, 'data');
  socket.destroy();
  await until(() => passed[0]!.request.socket.destroyed);
  await flushPromises();
  expect(await free(limit)).toBe(9);
});

test('a response is evaluated once all of it is sent', async () => {
  const { send, limit, arrivals } = await serveRefunding({ skipSuccessfulRequests: true }, (_request, response) =>
    response.write('half'),
  );
  const reply = await send();
  expect(await free(limit)).toBe(9);
  arrivals[0]!.response.end(' and half');
  expect(await reply.text()).toBe('half and half');
  await isFree(limit, 10);
});

test('pipelined requests are evaluated by their own responses, or by the disconnect if there is none', async () => {
  const options = { skipFailedRequests: true, skipAbortedRequests: true };
  const { limit, open, arrivals } = await serveRefunding(options, (request, response) => {
    if (request.url !== '/open') respondByPath(request, response);
  });
  const socket = open();
  socket.write(raw('/200') + raw('/404') + raw('/open') + raw('/200') + raw('/open'));
  await until(async () => arrivals.length === 5 && (await free(limit)) === 6);
  const [{ request }] = arrivals as [(typeof arrivals)[0]];
  socket.destroy();
  await isFree(limit, 9);
  expect(request.socket.listeners('close').filter(({ name }) => name === 'callAll')).toEqual([]);
});

test('on a keep-alive connection each request is evaluated once, and no listener stays', async () => {
  const { limit, passed, port } = await serveRefunding({ skipFailedRequests: true });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const listeners = new Set<number>();
  for (const path of ['/200', '/500', '/200', '/404', '/500']) {
    const [reply] = (await once(get({ port, agent, path }), 'response')) as [IncomingMessage];
    await text(reply);
    listeners.add(passed[0]!.request.socket.listenerCount('close'));
  }
  expect(new Set(passed.map(({ request }) => request.socket)).size).toBe(1);
  agent.destroy();
  await until(() => passed[0]!.request.socket.destroyed);
  expect([await free(limit), listeners.size]).toEqual([8, 1]);
});

test.each([
  ['skipFailedRequests', 10],
  ['skipSuccessfulRequests', 9],
])('a request with a 503 during the decision is a failure, with %s', async (option, remaining) => {
  const inner = memory();
  let closed: Promise<unknown> | undefined;
  const check: Store['check'] = async (...args) => {
    await closed;
    return inner.check(...args);
  };
  const store = storeWith({ check }, inner);
  const { limit, errors, passed, statuses } = await serveRefunding(
    { store, timeout: '1h', [option]: true },
    respondByPath,
    {
      before(_request, response) {
        closed = once(response, 'close');
        queueMicrotask(() => response.writeHead(503).end());
      },
    },
  );
  expect(await statuses('/')).toEqual([503]);
  await isFree(limit, remaining);
  await flushPromises();
  expect([await free(limit), errors, passed]).toEqual([remaining, [], []]);
});

describe.each([
  ['at once', false],
  ['later', true],
])('over HTTP/2, with a store that responds %s', (_, isLater) => {
  let session: ClientHttp2Session;
  afterEach(() => session.destroy());

  async function serveHttp2(options: object) {
    const { store, refunds } = countRefunds(isLater);
    const served = await serveRefunding(
      { store, ...options },
      (request, response) => {
        if (request.url === '/large') response.end(Buffer.alloc(1_000_000));
        else if (request.url !== '/open') respondByPath(request, response);
      },
      { isHttp2: true },
    );
    session = connectHttp2(`http://127.0.0.1:${served.port}`).on('error', () => {});
    const open = (path: string, method = 'GET') =>
      session.request({ ':path': path, ':method': method }).on('error', () => {});
    return { ...served, open, refunds };
  }

  test.each(['GET', 'HEAD'])(
    '%s requests are refunded by the status, or when their stream is reset',
    async (method) => {
      const { limit, open, refunds } = await serveHttp2({ skipFailedRequests: true, skipAbortedRequests: true });
      for (const path of ['/200', '/404', '/500']) await text(open(path, method));
      await isFree(limit, 9);
      const [reset, lost] = [open('/open', method), open('/open', method)];
      await isFree(limit, 7);
      reset.close(8);
      await isFree(limit, 8);
      lost.close(8);
      await isFree(limit, 9);
      expect(refunds).toHaveBeenCalledTimes(4);
    },
  );

  test('a large response that is reset halfway, or whose connection is lost, is incomplete', async () => {
    const options = { skipAbortedRequests: true, skipSuccessfulRequests: true };
    const { limit, open, refunds } = await serveHttp2(options);
    const streams = ['/large', '/large', '/large'].map((path) => open(path));
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    await isFree(limit, 7);
    streams[0]!.close(8);
    await isFree(limit, 8);
    session.destroy();
    await isFree(limit, 10);
    expect(refunds).toHaveBeenCalledTimes(3);
  });
});

const YEAR = 365 * 24 * 3600e6;
const years: Calendar = {
  windowMicros: YEAR,
  longestMicros: YEAR,
  periodAt(micros) {
    const startMicros = Math.floor(micros / YEAR) * YEAR;
    return { startMicros, endMicros: startMicros + YEAR };
  },
};

test('the end of a response spends what its request has reserved, and a settlement replaces it', async () => {
  const limits = new LeasedCalendarWindow({ limit: 100, calendar: years, lease: '10m' });
  const limit = limitWith({ limits, key, cost: () => 30 });
  const usage = async () => {
    const { spent, reserved } = (await limit.limiter.peek('ann')).limits.default!;
    return { spent, reserved };
  };
  const seen: unknown[] = [];
  const { send } = await serve([limit], {
    async handler(request, response) {
      seen.push(await usage());
      if (request.url === '/settled') await settle(request, { cost: 12 });
      response.end();
    },
  });
  await send();
  await until(async () => (await usage()).spent === 30);
  await send('/settled');
  await until(async () => (await usage()).reserved === 0);
  expect(seen).toEqual([
    { spent: 0, reserved: 30 },
    { spent: 30, reserved: 30 },
  ]);
  expect(await usage()).toEqual({ spent: 42, reserved: 0 });
});

describe('settle', () => {
  const gateWith = (options: Options = {}) => createGate({ key, ...options });
  const nine = { limit: 9, window: '1m' };
  const tokens = rollingWindow(nine);

  /** Sends a request through the gates. It is the same object for all of them, and for settlements. */
  async function passed(...gates: ReturnType<typeof gateWith>[]): Promise<object> {
    const request = { address: '192.0.2.1' };
    for (const gate of gates) await gate.judge(request, { isSent: false });
    return request;
  }

  const left = ({ limiter }: ReturnType<typeof gateWith>) => limiter.peek('ann');

  test('a settlement with a limiter leaves the others as they are', async () => {
    const [flood, unused] = [gateWith(nine), gateWith(nine)];
    const llm = gateWith({ limits: { requests: tokens, tokens }, cost: { tokens: 5 } });
    const request = await passed(flood, llm);
    await settle(request, { limiter: unused, cost: 0 });
    await settle(request, { limiter: llm, cost: 0 });
    await settle(request, { limiter: flood.limiter, cost: 3 });
    await settle(request, { cost: 9 }); // Both have settled the request.
    expect((await left(flood)).remaining).toBe(6);
    expect((await left(llm)).limits).toMatchObject({ requests: { remaining: 9 }, tokens: { remaining: 9 } });
  });

  test.each([
    ['a name that the limiter does not have', (limiter: object) => ({ limiter, cost: { tokens: 1 } }), 'tokens'],
    ['text as the limiter', () => ({ limiter: 'llm', cost: 0 }), 'Expected `limiter` to be a limiter'],
    [
      'an object without a limiter',
      () => ({ limiter: { limiter: {} }, cost: 0 }),
      'Expected `limiter` to be a limiter',
    ],
    ['a misspelled option', (limter: object) => ({ limter, cost: 0 }), 'Unknown option `limter` for settle'],
  ])('a settlement with %s rejects, and settles nothing', async (_, createOptions, message) => {
    const [first, second] = [gateWith({ limits: { tokens } }), gateWith(nine)];
    const request = await passed(first, second);
    await expect(settle(request, createOptions(second) as never)).rejects.toThrow(message);
    for (const gate of [first, second]) expect((await left(gate)).remaining).toBe(8);
  });

  test.each([
    ['a request', (request: object) => request],
    ['an object that inherits from a request', (request: object) => Object.create(request) as object],
  ])('a settlement finds all limiters that %s has passed', async (_, derive) => {
    const gates = [gateWith(nine), gateWith(nine), gateWith(nine)];
    await settle(derive(await passed(...gates)), { cost: 3 });
    for (const gate of gates) expect((await left(gate)).remaining).toBe(6);
  });
});
