import { Readable } from 'node:stream';
import { fixedWindow, MemoryStore } from '@rollgate/core';
import { createFetch } from '../src';
import { type Answer, TestApi } from './test-api';

const api = TestApi.forThisFile();

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
