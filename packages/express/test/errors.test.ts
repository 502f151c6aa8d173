import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { MemoryStore, type Store } from '@rollgate/core';
import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import request from 'supertest';
import { clock, createApp, EXPRESSES, listen } from './support/limited-app';

function raise(thrown: unknown): never {
  throw thrown;
}

/** A promise and the function that resolves it. */
function deferred<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

describe.each(EXPRESSES)('Express %s', (_, express) => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('no session');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no session'))],
  ])('a key function that %s goes to the error handler, once', async (_, key) => {
    const { app, errors } = createApp(express, { limit: 1, window: '1m', key });
    const server = await listen(app);
    await request(server).get('/').expect(500, { error: 'Error: no session' });
    expect(errors).toHaveLength(1);
  });

  test.each([
    ['key', { key: () => true }, 'Expected `key` to be a string'],
    ['key', { key: async () => '' }, 'Expected `key` to be a string'],
    ['cost', { cost: () => Number.NaN }, 'Expected `cost` to be a positive safe integer, got NaN (number)'],
    ['cost', { cost: async () => '2' }, 'Expected `cost` to be a positive safe integer, got "2" (string)'],
    ['skip', { skip: () => undefined }, 'Expected `skip(request)` to be a boolean, got undefined'],
  ])(
    'a %s function that returns an invalid value goes to the error handler, never to a silent default',
    async (_, options, expectedText) => {
      const { app, errors } = createApp(express, { limit: 1, window: '1m', ...options } as unknown as RateLimitOptions);
      const server = await listen(app);
      await request(server).get('/').expect(500);
      expect(errors).toHaveLength(1);
      expect(String(errors[0])).toContain(expectedText);
    },
  );

  test.each([
    [
      'throws',
      () => {
        throw new Error('no template');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no template'))],
  ])('a handler that %s goes to the error handler, once', async (_, handler) => {
    const { app, errors } = createApp(express, { limit: 1, window: '1m', handler });
    const server = await listen(app);
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(500, { error: 'Error: no template' });
    expect(errors).toHaveLength(1);
  });

  describe('an asynchronous store', () => {
    silenceOutages();

    /** Responds from its memory in a later turn, until it is down. */
    function laterStore() {
      const memory = new MemoryStore({ clock });
      const state = { isDown: false };
      const store: Store = {
        check: async (...args) => {
          if (state.isDown) throw new Error('connection refused');
          return memory.check(...args);
        },
        peek: async (...args) => memory.peek(...args),
        refund: (receipt) => memory.refund(receipt),
        reset: (...keys) => memory.reset(...keys),
      };
      return { store, state };
    }

    test('decides', async () => {
      const { app } = createApp(express, { limit: 1, window: '1m', store: laterStore().store });
      const server = await listen(app);
      await request(server).get('/').expect(200);
      await request(server).get('/').expect(429);
    });

    test.each([
      ['fallback', undefined, [200, 429]],
      ['fallback', 'fallback', [200, 429]],
      ['allow', 'allow', [200, 200]],
      ['deny', 'deny', [429, 429]],
    ] as const)('is replaced by the policy %s when it fails', async (_, onStoreError, statuses) => {
      const { store, state } = laterStore();
      const { app, errors } = createApp(express, { limit: 1, window: '1m', store, onStoreError });
      const server = await listen(app);
      state.isDown = true;
      for (const status of statuses) {
        const { headers } = await request(server).get('/').expect(status);
        expect('x-ratelimit-remaining' in headers).toBe(onStoreError === undefined || onStoreError === 'fallback');
        expect(headers['retry-after']).toBe({ 200: undefined, 429: onStoreError === 'deny' ? '1' : '60' }[status]);
      }
      expect(errors).toEqual([]);
    });

    test('passes its failure to the error handler when the policy is to throw', async () => {
      const { store, state } = laterStore();
      const { app, errors } = createApp(express, { limit: 1, window: '1m', store, onStoreError: 'throw' });
      const server = await listen(app);
      state.isDown = true;
      await request(server).get('/').expect(500, { error: 'StoreError: The store of the rate limiter is unavailable' });
      expect(errors).toMatchObject([{ status: 503, cause: { message: 'The store failed: connection refused' } }]);
    });
  });

  test('a client that disconnects during a check causes no error', async () => {
    const checkStarted = deferred<void>();
    const clientKey = deferred<string>();
    let turn = 0;
    const key = () => {
      if (turn++ > 0) return 'bob';
      checkStarted.resolve();
      return clientKey.promise;
    };
    const { app, errors } = createApp(express, { limit: 1, window: '1m', key });
    const server = await listen(app);
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await checkStarted.promise;
    socket.destroy();
    await once(socket, 'close');
    clientKey.resolve('ann');
    await request(server).get('/').expect(200);
    await request(server).get('/').expect(429);
    expect(errors).toEqual([]);
  });

  test('a response during the decision stays unchanged', async () => {
    const decided = deferred<string>();
    const late: string[] = [];
    const app = express();
    app.use((_request, response, next) => {
      response.on('close', () => decided.resolve('ann'));
      next();
      response.status(503).send('too slow');
    });
    app.use(rateLimit({ limit: 1, window: '1m', key: () => decided.promise, store: new MemoryStore({ clock }) }));
    app.use(() => {
      late.push('handled');
    });
    const server = await listen(app);
    await request(server).get('/').expect(503);
    await request(server).get('/').expect(503);
    expect(late).toEqual([]);
  });

  test.each([undefined, null, 0, '', 'route', 'router', 'text'])(
    'a failure with %p allows no request',
    async (thrown) => {
      for (const fail of [() => Promise.reject(thrown), () => raise(thrown)]) {
        for (const options of [{ key: fail }, { skip: fail }, { cost: fail }]) {
          const { app, errors } = createApp(express, {
            limit: 1,
            window: '1m',
            ...options,
          } as unknown as RateLimitOptions);
          await request(await listen(app))
            .get('/')
            .expect(500);
          expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('to throw errors') })]);
        }
        const { app, errors } = createApp(express, { limit: 1, window: '1m', handler: fail as never });
        const server = await listen(app);
        await request(server).get('/').expect(200);
        await request(server).get('/').expect(500);
        expect(errors).toHaveLength(1);
      }
    },
  );

  test('a client that disconnected before the check causes no error', async () => {
    const { app, errors } = createApp(express, { limit: 1, window: '1m' });
    const left = deferred<void>();
    const outer = express();
    outer.use(async (inner, _response, next) => {
      if (inner.path === '/left') {
        inner.socket.destroy();
        await once(inner.socket, 'close');
        next();
        left.resolve();
      } else next();
    });
    outer.use(app);
    const server = await listen(outer);
    await expect(request(server).get('/left')).rejects.toThrow();
    await left.promise;
    await request(server).get('/').expect(200);
    expect(errors).toEqual([]);
  });
});
