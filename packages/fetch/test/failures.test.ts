import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ManualClock, MemoryStore, manualClock, rollingWindow } from '@rollgate/core';
import { guardStore } from '@rollgate/core/store';
import { until } from '@rollgate/test-support';
import { Agent, Client, type Dispatcher, MockAgent, Pool, request, stream } from 'undici';
import { type CallOptions, type CallRequest, createFetch, type Dialect, github, stripe } from '../src';
import { OutgoingLimiter } from '../src/outgoing';
import { createInterceptor, type InterceptorOptions } from '../src/undici';
import { TestApi } from './test-api';

const api = TestApi.forThisFile();

let clock: ManualClock;
let store: MemoryStore;
let warn: jest.SpyInstance;
const dispatchers: Dispatcher[] = [];
beforeEach(() => {
  clock = manualClock(1_000_000);
  store = new MemoryStore({ clock });
  warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());
afterAll(() => Promise.all(dispatchers.map((dispatcher) => dispatcher.close())));

function compose(options: InterceptorOptions = {}, inner: Dispatcher = new Agent()): Dispatcher {
  dispatchers.push(inner);
  return inner.compose(createInterceptor({ store, maxWait: '1s', ...options }));
}

const createOwn = (options: CallOptions & { fetch?: typeof fetch } = {}) =>
  createFetch({ store, maxWait: '1s', ...options });
const json = { 'content-type': 'application/json' };
const REJECTED = { status: 429, headers: { 'retry-after': '30' }, body: 'slow down' };

/** Passes if no call is open, because an open one would keep the next call of a bucket without known quotas back. */
const nextStatus = async (options: CallOptions = {}) => (await createOwn(options)(api.url)).status;

describe('a call is closed, and the next one starts', () => {
  test('after a function `fetch` that throws or returns nothing', async () => {
    const failing = createOwn({
      fetch: () => {
        throw new Error('no network');
      },
    });
    await expect(failing(api.url)).rejects.toThrow('no network');
    await expect(createOwn({ fetch: (async () => undefined) as never })(api.url)).rejects.toThrow(TypeError);
    expect(await nextStatus()).toBe(200);
  });

  test('after a response whose message is not text', async () => {
    const hostile = { status: 403, headers: json, body: '{"message":{"toString":1,"valueOf":1}}' };
    api.answerWith(hostile, hostile, {});
    const dialects = [github()];
    const bucket = () => 'me';
    expect(await nextStatus({ dialects, bucket })).toBe(403);
    const { statusCode, body } = await request(api.url, { dispatcher: compose({ dialects, bucket }) });
    expect([statusCode, await body.text()]).toEqual([403, hostile.body]);
    expect(await nextStatus({ dialects, bucket })).toBe(200);
  });

  test('after a dialect that throws, with one warning. The response is obeyed nevertheless', async () => {
    const fail = () => {
      throw new Error('unexpected header');
    };
    const dialects: Dialect[] = [{ name: 'acme', units: ['requests'], readsBody: fail, read: fail }];
    api.answerWith(REJECTED);
    expect(await nextStatus({ dialects })).toBe(429);
    await expect(nextStatus({ dialects })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('`acme`'), { type: 'RollgateWarning', code: 'ROLLGATE_DIALECT_FAILED' }],
    ]);
  });

  test('after an inner interceptor that throws', async () => {
    const mock = new MockAgent();
    mock.disableNetConnect();
    const dispatcher = compose({}, mock);
    const failing = request(api.url, { dispatcher });
    await expect(failing).rejects.toMatchObject({ code: 'UND_MOCK_ERR_MOCK_NOT_MATCHED' });
    expect(await nextStatus()).toBe(200);
  });

  test('after a handler that throws when it gets the response', async () => {
    api.answerWith({ status: 403, headers: json, body: '{"message":"Resource not accessible"}' }, {});
    const dispatcher = compose({ dialects: [github()] });
    const failing = stream(api.url, { dispatcher, method: 'GET' }, ({ statusCode }) => {
      throw new Error(`unexpected ${statusCode}`);
    });
    await expect(failing).rejects.toThrow('unexpected 403');
    expect(await nextStatus({ dialects: [github()] })).toBe(200);
  });
});

test('an invalid cost in a report loses neither the block nor the call', async () => {
  const limits = { points: rollingWindow({ limit: 1000, window: '1m' }) };
  const remaining = () =>
    new OutgoingLimiter({ limits, store, prefix: 'rollgate-fetch' })
      .peek({ points: api.url })
      .then((one) => one.remaining);
  const expected = [
    [Number.NaN, 999],
    [1.5, 997],
    [-1, 996],
  ] as const;
  for (const [points, left] of expected) {
    const read = () => ({ isRejected: true, retryAfterMs: 5000, cost: { points } });
    const dialects: Dialect[] = [{ name: 'acme', units: ['points'], read }];
    const options = { dialects, limits, retry: false as const };
    expect(await nextStatus(options)).toBe(200);
    await expect(nextStatus(options)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    expect(await remaining()).toBe(left);
    clock.advance('5s');
  }
});

test('a rejection whose body breaks during the wait is repeated', async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
  const responses = [new Response(broken, REJECTED), new Response('done')];
  const limited = createOwn({
    maxWait: '1m',
    onWait: ({ waitMs }) => clock.advance(waitMs),
    fetch: async () => responses.shift()!,
  });
  expect(await (await limited('http://api.example')).text()).toBe('done');
});

test('a `settle` that fails before it has read as far as the connection breaks is reported', async () => {
  let breakConnection = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      breakConnection = () => controller.error(new TypeError('terminated'));
    },
  });
  let fail = (_: Error) => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const limits = { budget: rollingWindow({ limit: 10, window: '1h' }) };
  const limited = createFetch({ store, limits, settle: () => failed, fetch: async () => new Response(body) });
  const response = await limited('http://api.example');
  breakConnection();
  await expect(response.text()).rejects.toThrow('terminated');
  fail(new Error('a defect'));
  await until('the failure is reported', async () => warn.mock.calls.length > 0);
  expect(String(warn.mock.calls[0])).toContain('a defect');
});

test('a repeated call waits for `Retry-After` when the store fails', async () => {
  const fail = async (): Promise<never> => {
    throw new Error('store down');
  };
  const down = { clock, guard: guardStore, check: fail, peek: fail, refund: fail, reset: fail, settle: fail };
  const sentMs: number[] = [];
  const limited = createFetch({
    store: down,
    onStoreError: 'allow',
    maxWait: '2h',
    fetch: async () => {
      sentMs.push(clock.now());
      return new Response('slow down', REJECTED);
    },
  });
  const done = limited('http://api.example');
  let isDone = false;
  void done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    clock.advance('1s');
    await new Promise(setImmediate);
  }
  const gaps = sentMs.slice(1).map((ms, index) => ms - sentMs[index]!);
  expect(gaps).toHaveLength(2);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30_000);
});

test('a repeated call is open no longer if it is aborted while it waits without the store', async () => {
  class ForgetfulStore extends MemoryStore {
    override charge(): never {
      throw new Error('no charge is kept');
    }
  }
  const forgetful = new ForgetfulStore({ clock });
  const responses = [new Response('slow down', REJECTED), new Response('done')];
  const options = { store: forgetful, maxWait: '1h', fetch: async () => responses.shift()! } as const;
  const controller = new AbortController();
  const call = createFetch(options)('http://api.example', { signal: controller.signal });
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  controller.abort();
  await expect(call).rejects.toThrow('aborted');
  expect(await (await createFetch(options)('http://api.example')).text()).toBe('done');
});

describe('requests of a dispatcher', () => {
  const limits = { own: rollingWindow({ limit: 2, window: '1h' }) };

  test.each([
    ['Client', () => new Client(api.url)],
    ['Pool', () => new Pool(api.url)],
  ])('of a %s have the origin of the option, and need it', async (_, create) => {
    const dispatcher = compose({ limits, origin: new URL(api.url) }, create());
    const options = { path: '/', method: 'GET' as const };
    for (const _ of [1, 2]) await (await dispatcher.request(options)).body.dump();
    await expect(dispatcher.request(options)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    await expect(compose({ limits }, create()).request(options)).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_INVALID_OPTION',
    });
  });

  test('may have paths that look like hosts', async () => {
    const urls: string[] = [];
    const bucket = ({ url }: CallRequest) => {
      urls.push(url.href);
      return url.origin;
    };
    const dispatcher = compose({ bucket });
    for (const path of ['//other.example/x', '//'])
      await (await dispatcher.request({ origin: api.url, path, method: 'GET' })).body.dump();
    expect(urls).toEqual([`${api.url}//other.example/x`, `${api.url}//`]);
    expect(api.received.map(({ path }) => path)).toEqual(['//other.example/x', '//']);
  });

  test('need an address as their origin', () => {
    expect(() => createInterceptor({ origin: 'api.example.com' })).toThrow('origin');
  });
});

test('a response of another server after a redirection concerns that call alone', async () => {
  const other = new TestApi();
  await other.start();
  other.answerWith({ ...REJECTED, headers: { ...REJECTED.headers, 'x-ratelimit-remaining': '0' } });
  api.answer = ({ url }) => (url === '/file' ? { status: 302, headers: { location: other.url } } : {});
  const limited = createOwn({ retry: false });
  expect((await limited(`${api.url}/file`)).status).toBe(429);
  expect((await limited(api.url)).status).toBe(200);
  other.stop();
});

/** A body whose chunks a test sends. */
function openBody(): { body: ReadableStream<Uint8Array>; send: (text: string) => void; isRead: () => boolean } {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
  return { body, send, isRead: () => controller.desiredSize! > 0 };
}

test.each([
  ['does not end', (advance: () => void) => advance()],
  ['has more than 64 kB', (_advance: () => void, send: (text: string) => void) => send('x'.repeat(70_000))],
])('a body that %s reports nothing, and the caller gets it', async (_, act) => {
  const { body, send } = openBody();
  send('[1,');
  const dialects: Dialect[] = [{ name: 'acme', units: [], readsBody: () => true, read: () => undefined }];
  const limited = createOwn({ dialects, fetch: async () => new Response(body, { headers: json }) });
  const call = limited('http://api.example');
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  act(() => clock.advance('5s'), send);
  const reader = (await call).body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('[1,');
  await reader.cancel();
});

test('a rejection frees its connection during the wait, and stays readable', async () => {
  const { body, send, isRead } = openBody();
  let isWaiting = false;
  const onWait = () => {
    isWaiting = true;
  };
  const limited = createOwn({ maxWait: '1h', onWait, fetch: async () => new Response(body, REJECTED) });
  const call = limited('http://api.example');
  while (!isWaiting) await new Promise(setImmediate);
  send('slow down');
  while (!isRead()) await new Promise(setImmediate);
  limited.close();
  const reader = (await call).body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('slow down');
  await reader.cancel();
});

describe('the signal of a call', () => {
  test('cancels a stream that is not sent', async () => {
    const reasons: unknown[] = [];
    const createBody = () => new ReadableStream({ cancel: (reason) => void reasons.push(reason) });
    const signal = AbortSignal.abort(new Error('no longer needed'));
    const init = { method: 'PUT', duplex: 'half' } as const;
    await expect(createOwn()(api.url, { ...init, body: createBody(), signal })).rejects.toBe(signal.reason);
    const sent = new Request(api.url, { ...init, body: createBody() } as RequestInit);
    await expect(createOwn()(sent, { signal })).rejects.toBe(signal.reason);
    expect(reasons).toEqual([signal.reason, signal.reason]);
  });

  test('does not matter if `null` replaces it', async () => {
    const aborting = new AbortController();
    const request = new Request(api.url, { signal: aborting.signal });
    aborting.abort();
    expect((await createOwn()(request, { signal: null })).status).toBe(200);
  });

  test('may be shared by many calls that wait for an object alone', async () => {
    const { signal } = new AbortController();
    let sent = 0;
    const fetch = async () => {
      sent++;
      return new Response('locked', { status: 429 });
    };
    const limited = createOwn({ dialects: [stripe()], maxWait: '1m', fetch });
    const calls = Array.from({ length: 12 }, () => limited('http://api.example', { signal }));
    while (sent < 12) await new Promise(setImmediate);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    // Node warns of a leak when a signal has more than ten.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    limited.close();
    for (const { status } of await Promise.all(calls)) expect(status).toBe(429);
  });
});

test('closing removes the listener of the option `signal`', () => {
  const { signal } = new AbortController();
  createOwn({ signal }).close();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('trailers of a response that has waited reach the caller', async () => {
  const server = createServer((_, response) => {
    response.writeHead(429, { ...REJECTED.headers, trailer: 'checksum' });
    response.write('slow down');
    response.addTrailers({ checksum: 'abc' });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dialects: Dialect[] = [{ name: 'acme', units: [], readsBody: () => true, read: () => undefined }];
  const { trailers, body } = await request(url, { dispatcher: compose({ dialects, retry: false }) });
  await body.text();
  expect(trailers).toEqual({ checksum: 'abc' });
  server.close();
});
