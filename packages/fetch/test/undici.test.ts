import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { type ManualClock, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { NO_SERVER } from '@rollgate/test-support/free-port';
import { Agent, buildConnector, type Dispatcher, interceptors, request, fetch as undiciFetch } from 'undici';
import { type CallOptions, type CallRequest, shopify, type WaitEvent } from '../src';
import { createInterceptor, type RateLimitInterceptor } from '../src/undici';
import { TestApi } from './test-api';

const api = TestApi.forThisFile();

let clock: ManualClock;
let store: MemoryStore;
let waits: WaitEvent[];
const agents: Dispatcher[] = [];
beforeEach(() => {
  clock = manualClock(1_000_000);
  store = new MemoryStore({ clock });
  waits = [];
});
afterAll(() => Promise.all(agents.map((agent) => agent.close())));

function createAgent(
  options: CallOptions,
  agent = new Agent(),
): { dispatcher: Dispatcher; interceptor: RateLimitInterceptor } {
  const interceptor = createInterceptor({ store, maxWait: '2h', ...options });
  const dispatcher = agent.compose(interceptor);
  agents.push(dispatcher);
  return { dispatcher, interceptor };
}

/** A dispatcher whose waits pass at once. */
function createPatient(options: CallOptions = {}): Dispatcher {
  const onWait = (event: WaitEvent) => {
    waits.push(event);
    clock.advance(event.waitMs);
  };
  return createAgent({ ...options, onWait }).dispatcher;
}

const REJECTED = { status: 429, headers: { 'retry-after': '30' }, body: 'slow down' };

test('`request` waits, and repeats a rejected call', async () => {
  api.answerWith(REJECTED, { body: 'done' });
  const { statusCode, body } = await request(api.url, { dispatcher: createPatient(), method: 'PUT', body: 'payload' });
  expect([statusCode, await body.text()]).toEqual([200, 'done']);
  expect(api.received.map((one) => one.body)).toEqual(['payload', 'payload']);
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([30_000]);
});

test('`fetch` of undici does, too', async () => {
  api.answerWith(REJECTED, { body: 'done' });
  const response = await undiciFetch(api.url, { dispatcher: createPatient() });
  expect([response.status, await response.text()]).toEqual([200, 'done']);
});

test.each([
  ['a method that is not idempotent', { method: 'POST' as const, body: 'once' }, 1],
  ['such a method with `Idempotency-Key`', { method: 'POST' as const, headers: { 'Idempotency-Key': '1' } }, 2],
  ['the same in a list', { method: 'POST' as const, headers: ['Idempotency-Key', '1'] }, 2],
  ['a stream', { method: 'PUT' as const, body: Readable.from(['once']) }, 1],
])('%s is sent that often', async (_, options, count) => {
  api.answerWith(REJECTED, {});
  const { body } = await request(api.url, { dispatcher: createPatient(), ...options });
  expect(await body.text()).toBe(count === 1 ? 'slow down' : 'ok');
  expect(api.received).toHaveLength(count);
});

test('a rejection of more than 64 kB is the response', async () => {
  api.answerWith({ ...REJECTED, body: 'x'.repeat(200_000) }, {});
  const { statusCode, body } = await request(api.url, { dispatcher: createPatient() });
  expect([statusCode, (await body.text()).length]).toEqual([429, 200_000]);
  expect(api.received).toHaveLength(1);
});

test('a rejection in a compressed body is read, and the caller gets each body unchanged', async () => {
  const cost = { requestedQueryCost: 70, actualQueryCost: null };
  const throttleStatus = { maximumAvailable: 1000, currentlyAvailable: 20, restoreRate: 50 };
  const throttled = { errors: [{ message: 'Throttled' }], extensions: { cost: { ...cost, throttleStatus } } };
  const bodies = [throttled, { data: {} }].map((json) => gzipSync(JSON.stringify(json)));
  const server = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bodies.shift());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dispatcher = createPatient({ dialects: [shopify()], retry: { methods: 'all' } });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/api/2026-10/graphql.json`;
  const response = await undiciFetch(url, { dispatcher, method: 'GET' });
  expect(await response.json()).toEqual({ data: {} });
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([1000]);
  server.close();
});

test('a wait beyond `maxWait` fails before the first attempt, and returns the rejection after it', async () => {
  api.answerWith(REJECTED);
  const { dispatcher } = createAgent({ maxWait: '20s' });
  const { statusCode, body } = await request(api.url, { dispatcher });
  expect([statusCode, await body.text()]).toEqual([429, 'slow down']);
  await expect(request(api.url, { dispatcher })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
});

test('an abort ends the wait, and the request', async () => {
  api.answerWith(REJECTED);
  await request(api.url, { dispatcher: createAgent({ retry: false }).dispatcher });
  const controller = new AbortController();
  const reason = new Error('no longer needed');
  const { dispatcher } = createAgent({ onWait: () => setImmediate(() => controller.abort(reason)) });
  await expect(request(api.url, { dispatcher, signal: controller.signal })).rejects.toBe(reason);
  await expect(undiciFetch(api.url, { dispatcher, signal: controller.signal })).rejects.toThrow('no longer needed');
  expect(api.received).toHaveLength(1);

  clock.advance('1m');
  const sent = new AbortController();
  api.answer = () => {
    sent.abort(reason);
    return new Promise(() => {});
  };
  await expect(request(api.url, { dispatcher, signal: sent.signal })).rejects.toBe(reason);
});

test('a call that is aborted while its connection is made uses no units', async () => {
  const aborting = new AbortController();
  const reason = new Error('no longer needed');
  const connector = buildConnector({});
  const connect: typeof connector = (options, callback) => {
    aborting.abort(reason);
    connector(options, callback);
  };
  const limits = { own: rollingWindow({ limit: 1, window: '1h' }) };
  const { dispatcher } = createAgent({ limits, maxWait: '1s' }, new Agent({ connect }));
  await expect(request(api.url, { dispatcher, signal: aborting.signal })).rejects.toBe(reason);
  expect((await request(api.url, { dispatcher })).statusCode).toBe(200);
  expect(api.received).toHaveLength(1);
});

test('closing ends all waits. A call that has a response returns it', async () => {
  api.answerWith(REJECTED);
  const { dispatcher, interceptor } = createAgent({ onWait: (event) => void waits.push(event) });
  const first = request(api.url, { dispatcher });
  while (waits.length < 1) await new Promise(setImmediate);
  const second = request(api.url, { dispatcher });
  while (waits.length < 2) await new Promise(setImmediate);
  interceptor.close();
  expect(await (await first).body.text()).toBe('slow down');
  await expect(second).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
});

describe('a stream as the body', () => {
  const waiting = async (onWait: () => void) => {
    api.answerWith(REJECTED);
    await request(api.url, { dispatcher: createAgent({ retry: false }).dispatcher });
    return createAgent({ onWait });
  };

  test('ends the wait of its call if it fails', async () => {
    const body = new Readable({ read() {} });
    const reason = new Error('source broke');
    const { dispatcher } = await waiting(() => setImmediate(() => body.destroy(reason)));
    await expect(request(api.url, { dispatcher, method: 'PUT', body })).rejects.toBe(reason);
    expect(api.received).toHaveLength(1);
  });

  test('is destroyed with a call that is not sent', async () => {
    const { dispatcher, interceptor } = await waiting(() => setImmediate(() => interceptor.close()));
    const body = new Readable({ read() {} });
    const error = await new Promise((resolve) => {
      const onResponseError = (_: unknown, given: Error) => resolve(given);
      dispatcher.dispatch(
        { origin: api.url, path: '/', method: 'PUT', body },
        { onRequestStart() {}, onResponseError },
      );
    });
    expect([error, body.errored]).toEqual([expect.objectContaining({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' }), error]);
  });
});

describe('what a call sends', () => {
  let numbers: unknown[];
  beforeEach(() => {
    numbers = [];
    api.answer = ({ headers }) => {
      numbers.push(headers.n);
      return numbers.length === 1 ? { ...REJECTED, headers: { 'retry-after': '0' } } : {};
    };
  });

  test.each([
    ['a record', { n: '1' }, (headers: unknown) => Object.assign(headers as object, { n: '2' })],
    ['a record of arrays', { n: ['1'] }, (headers: unknown) => (headers as { n: string[] }).n.splice(0, 1, '2')],
    ['a list', ['n', '1'], (headers: unknown) => (headers as string[]).splice(1, 1, '2')],
    ['a list of arrays', ['n', ['1']], (headers: unknown) => (headers as string[][])[1]!.splice(0, 1, '2')],
    ['pairs', new Set([['n', '1']]), (headers: unknown) => [...(headers as Set<string[]>)][0]!.splice(1, 1, '2')],
    ['a map', new Map([['n', '1']]), (headers: unknown) => (headers as Map<string, string>).set('n', '2')],
    ['an iterator', new Map([['n', '1']]).entries(), () => {}],
  ])('are the headers of its start, in %s', async (_, headers, change) => {
    const options = { origin: api.url, path: '/', method: 'GET' as const, headers, query: { page: [1] } };
    const call = createPatient().request(options as unknown as Dispatcher.RequestOptions);
    change(headers);
    options.path = '/other';
    options.query.page[0] = 2;
    await (await call).body.dump();
    expect(numbers).toEqual(['1', '1']);
    expect(api.received.map(({ path }) => path)).toEqual(['/?page=1', '/?page=1']);
  });

  test('is what the functions of the options get', async () => {
    const urls: string[] = [];
    const bucket = ({ url }: CallRequest) => {
      urls.push(url.pathname + url.search);
      return 'me';
    };
    const query = { channel: ['C1', 'C2'], text: 'a b&c', draft: true };
    await (await request(`${api.url}/m`, { dispatcher: createPatient({ bucket }), query })).body.dump();
    expect(urls[0]).toContain('channel=C1&channel=C2');
    expect(urls[0]).toBe(api.received[0]!.path);
  });
});

test('the response has the redirections that an inner interceptor has followed', async () => {
  api.answer = ({ url }) => (url === '/old' ? { status: 302, headers: { location: '/new' } } : {});
  const inner = new Agent().compose(interceptors.redirect({ maxRedirections: 1 }));
  agents.push(inner);
  const dispatcher = inner.compose(createInterceptor({ store }));
  const { context, body } = await request(`${api.url}/old`, { dispatcher });
  await body.dump();
  expect(context).toEqual({ history: [new URL(`${api.url}/old`), new URL(`${api.url}/new`)] });
});

describe('a call through a redirect interceptor that was composed before', () => {
  const limits = { own: rollingWindow({ limit: 2, window: '1h' }) };
  const createRedirected = () => {
    const inner = new Agent().compose(interceptors.redirect({ maxRedirections: 1 }));
    agents.push(inner);
    return inner.compose(createInterceptor({ store, limits, bucket: () => 'me', maxWait: '1s' }));
  };
  const remaining = async () =>
    (await new RateLimiter({ limits, store, prefix: 'rollgate-fetch' }).peek({ own: 'me' })).remaining;

  test('learns nothing from the server of the target', async () => {
    const other = new TestApi();
    await other.start();
    other.answerWith({
      headers: { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' },
    });
    api.answer = ({ url }) => (url === '/other' ? { status: 302, headers: { location: other.url } } : {});
    const dispatcher = createRedirected();
    for (const path of ['/other', '/']) {
      const { statusCode, body } = await request(api.url + path, { dispatcher });
      await body.dump();
      expect(statusCode).toBe(200);
    }
    other.stop();
  });

  test('counts if the server that is gone is the target', async () => {
    api.answer = () => ({ status: 302, headers: { location: NO_SERVER } });
    const dispatcher = createRedirected();
    await expect(request(NO_SERVER, { dispatcher })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await remaining()).toBe(2);
    await expect(request(api.url, { dispatcher })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await remaining()).toBe(1);
  });
});
