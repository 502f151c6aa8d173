import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { appsOf, listen, memory, serve, storeWith, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

silenceOutages();

const later = async <Value>(value: Value): Promise<Value> => value;
const OPTIONS: [string, { isLater?: boolean; [option: string]: unknown }][] = [
  ['a store in memory', {}],
  ['a store that responds later', { isLater: true }],
  ['an async key', { key: () => later('ann') }],
  ['an async onLimited', { onLimited: () => later(undefined) }],
  ['an async message', { message: () => later('stop') }],
  ['a handler', { handler: () => 'stop' }],
  ['all headers', { headers: 'all', exposeHeaders: true }],
];

describe.each(VERSIONS)('a response that has started before the limiter, in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function started({ isLater, ...options }: (typeof OPTIONS)[0][1], serverOptions = {}) {
    const store = isLater ? storeWith({}) : memory();
    const given = { limit: 1, window: '1h', global: false, store, ...options };
    const app = await limited(given as never, serverOptions);
    let passed = 0;
    app.addHook('onRequest', async (_request, reply) => {
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.raw.write('data: hello\n\n');
    });
    app.get('/', { preHandler: app.rateLimit({ groupId: 'all' }) }, (_request, reply) => {
      passed += 1;
      reply.raw.end('data: allowed\n\n');
    });
    return { app, passed: () => passed };
  }

  test.each(OPTIONS)('continues when allowed and ends when rejected, with %s', async (_, options) => {
    const { app, passed } = await started(options);
    const get = await serve(app);
    const allowed = await get();
    expect(await allowed.text()).toBe('data: hello\n\ndata: allowed\n\n');
    expect(allowed.headers.has('x-ratelimit-limit')).toBe(false);
    expect(await (await get()).text()).toBe('data: hello\n\n');
    expect(passed()).toBe(1);
  });

  test('does not hang when an option fails', async () => {
    const key = async () => {
      throw new Error('no key');
    };
    const { app, passed } = await started({ key });
    const get = await serve(app);
    await get()
      .then((reply) => reply.text())
      .catch(() => {});
    expect(passed()).toBe(0);
  });

  test('ends when a `message` starts it and then fails', async () => {
    let response: ServerResponse | undefined;
    const message = async () => {
      response!.writeHead(200).write('started');
      throw new Error('too late');
    };
    const app = await limited({ limit: 1, window: '1h', hook: 'preHandler', message });
    app.addHook('onRequest', async (_request, reply) => {
      response = reply.raw;
    });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    await get();
    const reply = await get();
    expect([reply.status, await reply.text()]).toEqual([200, 'started']);
  });

  test('does so over HTTP/2, too', async () => {
    const { app } = await started({}, { http2: true });
    const session = connectHttp2(await listen(app));
    expect(await text(session.request({ ':path': '/' }))).toBe('data: hello\n\ndata: allowed\n\n');
    expect(await text(session.request({ ':path': '/' }))).toBe('data: hello\n\n');
    session.destroy();
  });

  test.each([
    ['given', new Error('slow down'), 429],
    ['returned', () => new Error('slow down'), 429],
    ['promised', async () => new Error('slow down'), 429],
    ['with a status of its own', Object.assign(new Error('slow down'), { statusCode: 418 }), 418],
  ])('a `message` that is an Error goes to the error handling: %s', async (_, message, status) => {
    const app = await limited({ limit: 1, window: '1h', message });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    await get();
    const reply = await get();
    expect(reply.status).toBe(status);
    expect(reply.headers.get('retry-after')).toBe('3600');
    expect(await reply.json()).toMatchObject({ statusCode: status, message: 'slow down' });
  });
});
