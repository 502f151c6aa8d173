import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { MemoryStore, type Store } from '@rollgate/core';
import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, clock, listen, serve, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import type { FastifyInstance, FastifyReply, FastifyServerOptions } from 'fastify';

const LIMIT = 100;

/** A store that counts the refunds, and may respond later. */
function createCountingStore(isLater: boolean) {
  const memory = new MemoryStore({ clock });
  const refunded = { times: 0 };
  const respond = <Value>(value: Value) => (isLater ? Promise.resolve(value) : value);
  const store: Store = {
    check: (...args) => respond(memory.check(...args)),
    peek: (...args) => respond(memory.peek(...args)),
    reset: (...args) => respond(memory.reset(...args)),
    refund: (receipt) => {
      refunded.times += 1;
      return respond(memory.refund(receipt));
    },
  };
  return { store, refunded };
}

const sessions: ClientHttp2Session[] = [];
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy();
});

async function openSession(app: FastifyInstance): Promise<ClientHttp2Session> {
  const session = connectHttp2(await listen(app)).on('error', () => {});
  sessions.push(session);
  return session;
}

describe.each(VERSIONS)('refunds in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  /** An app that responds to `/404` with this status, to `/large` with a large body, and to `/open` never. */
  async function create(
    options: Partial<RateLimitPluginOptions>,
    { serverOptions = {}, isLater = false }: { serverOptions?: object; isLater?: boolean } = {},
  ) {
    const { store, refunded } = createCountingStore(isLater);
    const open: FastifyReply[] = [];
    const app = await limited(
      { limit: LIMIT, window: '1m', key: () => 'all', store, ...options } as RateLimitPluginOptions,
      serverOptions as FastifyServerOptions,
    );
    app.get('/:status', async (request, reply) => {
      reply.code(Number((request.params as { status: string }).status));
      return 'done';
    });
    app.get('/large', async ({ raw }) => Buffer.alloc(raw.httpVersionMajor === 2 ? 1_000_000 : 20_000_000));
    app.get('/throws', async () => {
      throw new Error('broken');
    });
    app.get('/open', (_request, reply) => {
      open.push(reply);
    });
    const used = async () => LIMIT - (await app.rateLimiter!.peek('all')).remaining;
    /** Waits until every response has been evaluated. */
    const becomes = (units: number) => until(async () => (await used()) === units);
    return { app, open, used, becomes, refunded };
  }

  const http2 = { http2: true };
  const raw = (path: string) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`;
  const open = (app: FastifyInstance) =>
    connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});

  async function sendHttp2(session: ClientHttp2Session, path: string, method = 'GET') {
    const stream = session.request({ ':path': path, ':method': method });
    const [headers] = await once(stream, 'response');
    await text(stream);
    return headers[':status'];
  }

  describe.each([
    ['at once', false],
    ['later', true],
  ])('with a store that responds %s', (_, isLater) => {
    test.each([
      [{ skipSuccessfulRequests: true }, ['/404', '/500', '/throws', '/nowhere/else'], ['/200', '/302']],
      [{ skipFailedRequests: true }, ['/200', '/302'], ['/404', '/500', '/throws', '/nowhere/else']],
      [{ skipSuccessfulRequests: true, skipFailedRequests: true }, [], ['/200', '/302', '/404', '/throws']],
      [{ skipSuccessfulRequests: false, skipFailedRequests: false }, ['/200', '/302', '/404', '/throws'], []],
    ])('%p, over HTTP/1 and HTTP/2, GET and HEAD', async (options, countedPaths, refundedPaths) => {
      for (const serverOptions of [{}, http2]) {
        const { app, used, becomes, refunded } = await create({ cost: 2, ...options }, { serverOptions, isLater });
        const isHttp2 = serverOptions === http2;
        const session = isHttp2 ? await openSession(app) : undefined;
        const get = isHttp2 ? undefined : await serve(app);
        for (const method of ['GET', 'HEAD']) {
          for (const path of [...refundedPaths, ...countedPaths]) {
            if (session !== undefined) await sendHttp2(session, path, method);
            await (await get?.(path, { method, redirect: 'manual' }))?.text();
          }
        }
        await becomes(countedPaths.length * 2 * 2);
        expect(refunded.times).toBe(refundedPaths.length * 2);
        session?.destroy();
        await app.close();
        expect([await used(), refunded.times]).toEqual([countedPaths.length * 4, refundedPaths.length * 2]);
      }
    });

    test.each([
      ['/open', true],
      ['/open', false],
      ['/large', true],
      ['/large', false],
    ])(
      'over HTTP/1, a client that leaves %s before its end is refunded by skipAbortedRequests: %p',
      async (path, skipAbortedRequests) => {
        const options = { skipAbortedRequests, skipSuccessfulRequests: true, skipFailedRequests: true };
        const { app, becomes, refunded } = await create(options, { isLater });
        await listen(app);
        const [leaving, other] = [open(app), open(app)];
        leaving.write(raw(path));
        await becomes(1);
        if (path === '/large') await once(leaving, 'data');
        other.write(raw('/open'));
        await becomes(2);
        leaving.destroy();
        await once(leaving, 'close');
        if (skipAbortedRequests) await becomes(1);
        other.destroy();
        await becomes(skipAbortedRequests ? 0 : 2);
        expect(refunded.times).toBe(skipAbortedRequests ? 2 : 0);
      },
    );

    test.each(['GET', 'HEAD'])('over HTTP/2, a %s stream that is reset halfway', async (method) => {
      const { app, becomes, refunded } = await create({ skipAbortedRequests: true }, { serverOptions: http2, isLater });
      const session = await openSession(app);
      const [reset, other] = ['/open', '/open'].map((path) =>
        session.request({ ':path': path, ':method': method }).on('error', () => {}),
      );
      await becomes(2);
      reset!.close(8);
      await becomes(1);
      expect(refunded.times).toBe(1);
      expect(await sendHttp2(session, '/200', method)).toBe(200);
      expect(refunded.times).toBe(1);
      other!.close(8);
      await becomes(1);
      session.destroy();
      await app.close();
      expect(refunded.times).toBe(2);
    });
  });

  test('over HTTP/2, a large response that is reset halfway, or whose connection is lost, is incomplete', async () => {
    const { app, becomes, refunded } = await create(
      { skipAbortedRequests: true, skipSuccessfulRequests: true },
      { serverOptions: http2 },
    );
    const session = await openSession(app);
    const streams = ['/large', '/large', '/large'].map((path) =>
      session.request({ ':path': path }).on('error', () => {}),
    );
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    await becomes(3);
    streams[0]!.close(8);
    await becomes(2);
    session.destroy();
    await becomes(0);
    expect(refunded.times).toBe(3);
  });

  test.each([
    ['HTTP/1', {}],
    ['HTTP/2', http2],
  ])('over %s, a client that aborts each request is still limited', async (name, serverOptions) => {
    const { app, open: waiting, used } = await create({ skipFailedRequests: true, limit: 3 }, { serverOptions });
    const session = name === 'HTTP/2' ? await openSession(app) : undefined;
    if (session === undefined) await listen(app);
    for (let turn = 0; turn < 10; turn++) {
      const stream = session?.request({ ':path': '/open' }).on('error', () => {}) ?? open(app);
      if (session === undefined) stream.write(raw('/open'));
      if (turn < 3) await until(() => waiting.length === turn + 1);
      else await once(stream, session === undefined ? 'data' : 'response');
      stream.destroy();
      await once(stream, 'close');
    }
    session?.destroy();
    expect(waiting).toHaveLength(3);
    expect(await used()).toBe(LIMIT);
  });

  test('depend on each pipelined request’s own response, or on the disconnect if there is none', async () => {
    const { app, becomes, refunded } = await create({ skipFailedRequests: true, skipAbortedRequests: true });
    await listen(app);
    const socket = open(app);
    socket.write(raw('/200') + raw('/404') + raw('/open') + raw('/200') + raw('/open'));
    await becomes(4);
    socket.destroy();
    await becomes(1);
    expect(refunded.times).toBe(4);
  });

  test('a rejected request is not charged and not refunded', async () => {
    const { app, used, refunded } = await create({ skipFailedRequests: true, limit: LIMIT, cost: LIMIT });
    const get = await serve(app);
    expect((await get('/200')).status).toBe(200);
    expect((await get('/200')).status).toBe(429);
    await app.close();
    expect([await used(), refunded.times]).toEqual([LIMIT, 0]);
  });

  test.each([
    ['sync', (value: boolean) => value],
    ['async', async (value: boolean) => value],
  ])('depend on requestWasSuccessful, %s', async (_, wrap) => {
    const seen: unknown[] = [];
    const { app, becomes, refunded } = await create({
      skipSuccessfulRequests: true,
      requestWasSuccessful: (request, reply) => {
        seen.push([request.url, reply.statusCode, reply.sent]);
        return wrap(reply.statusCode === 404) as boolean;
      },
    });
    const get = await serve(app);
    for (const path of ['/200', '/404', '/500', '/404']) await (await get(path)).text();
    await becomes(2);
    await until(() => seen.length === 4);
    expect(seen).toEqual([
      ['/200', 200, true],
      ['/404', 404, true],
      ['/500', 500, true],
      ['/404', 404, true],
    ]);
    expect(refunded.times).toBe(2);
  });

  test('requestWasSuccessful is not called after a disconnect', async () => {
    const requestWasSuccessful = jest.fn(() => true);
    const { app, becomes } = await create({
      skipFailedRequests: true,
      skipAbortedRequests: true,
      requestWasSuccessful,
    });
    await listen(app);
    const socket = open(app);
    socket.write(raw('/open'));
    await becomes(1);
    socket.destroy();
    await becomes(0);
    expect(requestWasSuccessful).not.toHaveBeenCalled();
  });

  test('a route and a hook that the app creates have their own rules', async () => {
    const { app, used } = await create({});
    app.get('/own', { config: { rateLimit: { skipSuccessfulRequests: true, limit: 1 } } }, async () => 'own');
    const preHandler = app.rateLimit({ groupId: 'hook', skipSuccessfulRequests: true, limit: 1 });
    app.get('/hook', { preHandler }, async () => 'hook');
    const get = await serve(app);
    for (const path of ['/own', '/own', '/hook', '/hook']) {
      expect((await get(path)).status).toBe(200);
      await until(async () => (await preHandler.limiter.peek('all')).remaining === 1);
    }
    expect(await used()).toBe(2);
  });

  test('leave no listener on a keep-alive connection', async () => {
    const { app, becomes } = await create({ skipSuccessfulRequests: true });
    const counts = new Set<number>();
    app.addHook('onResponse', async ({ raw }) => {
      await flushPromises();
      counts.add(raw.socket.listenerCount('close'));
    });
    await listen(app);
    const socket = open(app);
    for (let turn = 0; turn < 15; turn++) {
      socket.write(raw('/200'));
      await once(socket, 'data');
    }
    await becomes(0);
    await until(() => counts.size > 0);
    expect(counts.size).toBe(1);
    socket.destroy();
  });
});
