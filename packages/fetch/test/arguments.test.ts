import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { fixedWindow, MemoryStore, manualClock } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { FormData as UndiciForm, Request as UndiciRequest, fetch as undiciFetch } from 'undici';
import { createFetch } from '../src';
import { type Answer, TestApi } from './test-api.js';

const api = TestApi.forThisFile();

const viaUndici = { fetch: undiciFetch as unknown as typeof fetch };

describe('what the caller changes after a call', () => {
  test('is not sent', async () => {
    const limited = createFetch();
    const sent: (string | undefined)[] = [];
    api.answer = ({ url, headers }) => {
      sent.push(`${url} ${headers['x-number']} ${headers['x-pair']} ${headers['x-own']}`);
      return {};
    };
    const url = new URL(api.url);
    const headers = new Headers();
    const pair = ['x-pair', ''] as [string, string];
    const own: Record<string, string> = {};
    const form = new FormData();
    const params = new URLSearchParams();
    const bytes = new Uint8Array([0]);
    const foreign: ArrayBuffer = runInNewContext('new ArrayBuffer(1)');
    const foreignBytes = new Uint8Array(foreign);
    const request = new Request(api.url);
    const calls: Promise<unknown>[] = [];
    for (const number of ['1', '2']) {
      url.search = number;
      headers.set('x-number', number);
      pair[1] = number;
      own['x-own'] = number;
      request.headers.set('x-number', number);
      for (const one of [headers, [pair], own]) calls.push(limited(url, { headers: one }));
      calls.push(limited(request));
      form.set('form', number);
      params.set('params', number);
      bytes[0] = 48 + Number(number);
      foreignBytes[0] = bytes[0];
      for (const body of [form, params, bytes, bytes.buffer, new DataView(bytes.buffer), foreign])
        calls.push(limited(api.url, { method: 'PUT', body }));
    }
    await Promise.all(calls);
    const expected = [1, 2].flatMap((number) => [
      `/?${number} ${number} undefined undefined`,
      `/?${number} undefined ${number} undefined`,
      `/?${number} undefined undefined ${number}`,
      `/ ${number} undefined undefined`,
    ]);
    expect(sent.filter((one) => !one!.startsWith('/ undefined')).sort()).toEqual(expected.sort());
    const bodies = api.received.map(({ body }) => body).filter((body) => body !== '');
    const forms = bodies.filter((body) => body.includes('form-data'));
    for (const number of [1, 2]) expect(forms.filter((body) => body.includes(`\r\n${number}\r\n`))).toHaveLength(1);
    const others = bodies.filter((body) => !body.includes('form-data')).sort();
    expect(others).toEqual([...'11112222', 'params=1', 'params=2']);
  });

  test('may not be the body of a `Request`, which moves as with `fetch`', async () => {
    const limited = createFetch();
    const request = new Request(api.url, { method: 'PUT', body: 'moved' });
    const call = limited(request);
    await expect(request.text()).rejects.toMatchObject({ name: 'TypeError' });
    await expect(limited(request)).rejects.toMatchObject({ name: 'TypeError' });
    expect((await call).status).toBe(200);
    const replaced = new Request(api.url, { method: 'PUT', body: 'kept', headers: { 'content-type': 'a/b' } });
    await limited(replaced, { body: 'replaced' });
    expect(await replaced.text()).toBe('kept');
    // The options may be a `Request`, whose properties are inherited.
    await limited(`${api.url}/copy`, new Request(api.url, { method: 'PUT', body: 'from options' }));
    expect(api.received).toEqual([
      { method: 'PUT', path: '/', body: 'moved' },
      { method: 'PUT', path: '/', body: 'replaced' },
      { method: 'PUT', path: '/copy', body: 'from options' },
    ]);
  });
});

describe('what `fetch` would send is sent', () => {
  test('with options that cannot be enumerated. A getter runs once', async () => {
    let reads = 0;
    class Options {
      get method() {
        reads++;
        return 'PUT';
      }
      get body() {
        return 'of a class';
      }
    }
    const hidden = Object.defineProperty({}, 'method', { value: 'DELETE' });
    const literal = {
      get method() {
        reads++;
        return 'PUT';
      },
    };
    for (const init of [new Options(), literal, hidden]) await createFetch()(api.url, init);
    expect(api.received.map(({ method, body }) => [method, body])).toEqual([
      ['PUT', 'of a class'],
      ['PUT', ''],
      ['DELETE', ''],
    ]);
    expect(reads).toBe(2);
  });

  test.each<[string, RequestInit]>([
    ['three values for a header', { headers: [['a', 'b', 'c']] as never }],
    ['a text for a header', { headers: ['ab'] as never }],
    ['shared bytes', { method: 'PUT', body: new Uint8Array(new SharedArrayBuffer(1)) as never }],
  ])('so invalid arguments reject: %s', async (_, init) => {
    await expect(createFetch()(api.url, init)).rejects.toMatchObject({ name: 'TypeError' });
    expect(api.received).toEqual([]);
  });
});

describe('a form', () => {
  const REJECTED = { status: 429, headers: { 'retry-after': '0' } };

  test('of a class of the user is copied, and sent again', async () => {
    class Form extends FormData {
      constructor(name: string) {
        super();
        this.set(name.toLowerCase(), 'value');
      }
    }
    api.answerWith(REJECTED, {});
    expect((await createFetch()(api.url, { method: 'PUT', body: new Form('A') })).status).toBe(200);
    expect(api.received.map(({ body }) => body.includes('name="a"'))).toEqual([true, true]);
  });

  test('that is a stream is sent as it is, and once', async () => {
    const form = Object.assign(Readable.from(['form']), { [Symbol.toStringTag]: 'FormData' });
    const sent: unknown[] = [];
    const limited = createFetch({
      fetch: async (_, init) => {
        sent.push(init!.body);
        return new Response('', REJECTED);
      },
    });
    expect((await limited(api.url, { method: 'PUT', body: form as never })).status).toBe(429);
    expect(sent).toEqual([form]);
  });
});

test('classes of undici are taken like those of the platform', async () => {
  api.answerWith({ status: 429, headers: { 'retry-after': '0' } }, {});
  const form = new UndiciForm();
  form.set('one', 'two');
  const limited = createFetch(viaUndici);
  expect((await limited(api.url, { method: 'PUT', body: form as unknown as FormData })).status).toBe(200);
  const request = new UndiciRequest(`${api.url}/request`, { method: 'PUT', body: 'once' });
  expect((await limited(request as unknown as Request)).status).toBe(200);
  expect(api.received.map(({ body }) => body.includes('two') || body)).toEqual([true, true, 'once']);
});

describe('the function that sends', () => {
  const REJECTED = { status: 429, headers: { 'retry-after': '30' } };

  test('may send elsewhere, and what the responses report counts', async () => {
    api.answerWith(REJECTED);
    const limited = createFetch({
      maxWait: '1s',
      fetch: (url, init) => fetch(String(url).replace('https://api.example', api.url), init),
    });
    expect((await limited('https://api.example/path')).status).toBe(429);
    await expect(limited('https://api.example/path')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    expect(api.received).toHaveLength(1);
  });

  test('is the one before it if it becomes the global `fetch`', async () => {
    const { fetch: original } = globalThis;
    try {
      globalThis.fetch = createFetch({ maxWait: '1s' });
      globalThis.fetch = createFetch({ maxWait: '1s' });
      expect((await fetch(api.url)).status).toBe(200);
    } finally {
      globalThis.fetch = original;
    }
  });
});

test('an abort while the report is stored ends the call', async () => {
  const aborting = new AbortController();
  const clock = manualClock(0);
  const states = new Map<string, number[]>();
  const store = createStore({
    clock,
    async transact(keys, update) {
      if (api.received.length > 0) aborting.abort(new Error('no longer needed'));
      const changes = update(keys.map((key) => states.get(key)));
      for (const [index, key] of keys.entries()) if (changes[index]) states.set(key, [...changes[index].numbers]);
    },
  });
  const call = createFetch({ store })(api.url, { signal: aborting.signal });
  await expect(call).rejects.toThrow('no longer needed');
});

const upload = (body: unknown) => ({ method: 'PUT', body, duplex: 'half' }) as RequestInit;

describe('a stream as the body', () => {
  /** A stream whose source fails when a test destroys it. */
  const createStream = () => new Readable({ read() {} });

  test.each<[string, object]>([
    ['a mode', { mode: 'nope' }],
    ['a header', { headers: { name: '\u1234' } }],
    ['without `duplex`', { duplex: undefined }],
    ['`keepalive`', { keepalive: true }],
  ])("stays the caller's, and no units are used, if the arguments are invalid: %s", async (_, init) => {
    api.answerWith({});
    const limited = createFetch({ limits: { own: fixedWindow({ limit: 1, window: '1h' }) }, maxWait: '1s' });
    const source = createStream();
    const body = Readable.toWeb(source) as ReadableStream;
    await expect(limited(api.url, { ...upload(body), ...init })).rejects.toMatchObject({ name: 'TypeError' });
    await body.cancel();
    expect(source.destroyed).toBe(true);
    expect((await limited(api.url)).status).toBe(200);
  });

  test('is canceled if the function that sends rejects its arguments', async () => {
    const send = async (...[, init]: Parameters<typeof fetch>) => fetch(api.url, { ...init, mode: 'nope' as never });
    const source = createStream();
    const call = createFetch({ fetch: send })(api.url, upload(Readable.toWeb(source)));
    await expect(call).rejects.toMatchObject({ name: 'TypeError' });
    await new Promise(setImmediate);
    expect(source.destroyed).toBe(true);
  });

  test.each<[string, (stream: Readable) => unknown]>([
    ['of Node', (stream) => stream],
    ['of the web, from one of Node', (stream) => ReadableStream.from(stream)],
    ['in a `Request`', (stream) => ReadableStream.from(stream)],
  ])('%s ends the wait of its call if it fails, as it ends a request', async (kind, createBody) => {
    const held: ((answer: Answer) => void)[] = [];
    api.answer = () => new Promise((resolve) => void held.push(resolve));
    let isWaiting = false;
    const onWait = () => {
      isWaiting = true;
    };
    const limited = createFetch({ store: new MemoryStore(), onWait });
    const probe = limited(api.url);
    const body = createStream();
    const init = upload(createBody(body));
    const call = kind === 'in a `Request`' ? limited(new Request(api.url, init)) : limited(api.url, init);
    while (held.length === 0 || !isWaiting) await new Promise(setImmediate);
    const cause = new Error('source broke');
    const failed = expect(call).rejects.toMatchObject({ name: 'TypeError', message: 'fetch failed', cause });
    body.destroy(cause);
    await failed;
    held[0]!({});
    expect((await probe).status).toBe(200);
    expect(held).toHaveLength(1);
  });

  test('ends the wait of its call if it fails without a reason', async () => {
    api.answerWith({});
    let onWait = () => {};
    const waiting = new Promise<void>((resolve) => {
      onWait = resolve;
    });
    const limited = createFetch({ limits: { own: fixedWindow({ limit: 1, window: '1h' }) }, maxWait: '2h', onWait });
    await limited(api.url);
    let fail = () => {};
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue('read ahead');
      fail = () => controller.error();
    };
    const call = limited(api.url, upload(new ReadableStream({ start })));
    await waiting;
    fail();
    const error = await call.catch((reason) => reason);
    expect([error.message, error.cause]).toEqual(['fetch failed', undefined]);
  });

  test('ends with a call that is not sent, and an async iterator does, too', async () => {
    const limited = createFetch();
    limited.close();
    const body = createStream();
    const error = await limited(api.url, upload(body)).catch((reason) => reason);
    expect([error.code, body.errored]).toEqual(['ERR_ROLLGATE_LIMITER_CLOSED', error]);

    const iterator = (async function* () {
      yield 'never';
    })();
    const signal = AbortSignal.abort(new Error('no longer needed'));
    await expect(createFetch()(api.url, { ...upload(iterator), signal })).rejects.toBe(signal.reason);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test('is sent when the call starts', async () => {
    api.answerWith({});
    const { signal } = new AbortController();
    await createFetch()(api.url, { ...upload(Readable.from(['one, ', 'two'])), signal });
    expect(api.received.map(({ body }) => body)).toEqual(['one, two']);
  });
});
