import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { leakyBucket } from '@rollgate/core';
import {
  clock,
  EXPRESSES,
  limitWith,
  listen,
  memory,
  serve,
  storeWith,
  until,
} from '@rollgate/host-tests/express-servers';
import type { Request, RequestHandler, Response } from 'express';

const usual = { limit: 1, window: '1m' };

function raise(thrown: unknown): never {
  throw thrown;
}

describe.each(EXPRESSES)('Express %s', (_, express) => {
  test('a handler replaces the default rejection', async () => {
    const handler = (_request: Request, response: Response, _next: unknown, decision: { retryAfterMs: number }) =>
      response.status(418).json({ wait: decision.retryAfterMs });
    const { send, statuses } = await serve(express, [limitWith({ ...usual, handler })]);
    await statuses(1);
    const reply = await send();
    expect([reply.status, reply.headers.get('retry-after'), await reply.json()]).toEqual([418, '60', { wait: 60_000 }]);
    expect(Number(reply.headers.get('x-ratelimit-reset'))).toBeGreaterThan(1e9); // A time, not a duration.
  });

  test.each([undefined, null, 0, '', 'route', 'router', 'text', new Error('no template')])(
    'a handler that fails with %p goes to the error handler, once',
    async (thrown) => {
      const error = thrown instanceof Error ? thrown : { message: expect.stringContaining('to throw errors') };
      for (const handler of [() => Promise.reject(thrown), () => raise(thrown)]) {
        const { errors, statuses } = await serve(express, [limitWith({ ...usual, handler })]);
        expect(await statuses(2)).toEqual([200, 500]);
        expect(errors).toMatchObject([error]);
      }
    },
  );

  test('a client that disconnected before the check causes no error', async () => {
    let hasContinued = false;
    const leave: RequestHandler = async ({ path, socket }, _response, next) => {
      if (path === '/left') {
        socket.destroy();
        await once(socket, 'close');
      }
      next();
      hasContinued = true;
    };
    const { errors, send, statuses } = await serve(express, [limitWith(usual)], { before: [leave] });
    await expect(send('/left')).rejects.toThrow();
    await until(() => hasContinued);
    expect([await statuses(1), errors]).toEqual([[200], []]);
  });
});

/** Awaits the limiter, and continues unless it has responded. */
const awaiting =
  (limit: RequestHandler): RequestHandler =>
  async (request, response, next) => {
    await limit(request, response, () => {});
    if (!response.headersSent) next();
  };

describe.each(EXPRESSES)('an awaited middleware in Express %s', (_, express) => {
  describe.each([
    ['in memory', memory],
    ['that replies later', () => storeWith({})],
  ])('with a store %s', (_, createStore) => {
    const limitOf = (options: object) => limitWith({ limit: 1, window: '1m', store: createStore(), ...options });

    test.each([
      ['by default', {}],
      ['by an async message', { message: async () => 'slow down' }],
      ['by a handler', { handler: async (_request: unknown, response: ServerResponse) => void response.end('slow') }],
    ])('ends after the rejection, sent %s', async (_, options) => {
      const { statuses, passed } = await serve(express, [awaiting(limitOf(options))]);
      expect(await statuses(3)).toEqual([200, 429, 429]);
      expect(passed).toHaveLength(1);
    });

    test('returns a promise that resolves after `next`, or after the rejection was sent', async () => {
      const limit = limitOf({});
      const log: unknown[] = [];
      const chained: RequestHandler = (request, response) => {
        let hasContinued = false;
        const next = () => {
          hasContinued = true;
        };
        limit(request, response, next).then((value) => {
          log.push([value, hasContinued, response.writableEnded]);
          response.end();
        });
      };
      const { statuses } = await serve(express, [chained]);
      expect(await statuses(2)).toEqual([200, 429]);
      expect(log).toEqual([
        [undefined, true, false],
        [undefined, false, true],
      ]);
    });

    test('waits for what `next` returns', async () => {
      const limit = limitOf({});
      const log: string[] = [];
      const composed: RequestHandler = async (request, response) => {
        const next = async () => {
          await setImmediate();
          log.push('next has ended');
        };
        await limit(request, response, next).then(() => log.push('resolved'));
        response.end();
      };
      const { statuses } = await serve(express, [composed]);
      await statuses(1);
      expect(log).toEqual(['next has ended', 'resolved']);
    });

    test('throws what `next` throws, and does not call it again', async () => {
      const thrown: unknown[] = [];
      let calls = 0;
      const limit = limitOf({ limit: 9 });
      const composed: RequestHandler = async (request, response) => {
        const fail = () => {
          calls += 1;
          throw new Error('the next handler failed');
        };
        await Promise.resolve()
          .then(() => limit(request, response, fail))
          .catch((error) => thrown.push(error));
        response.end();
      };
      const { statuses } = await serve(express, [composed]);
      expect(await statuses(1)).toEqual([200]);
      expect(thrown).toEqual([new Error('the next handler failed')]);
      expect(calls).toBe(1);
    });

    test('passes the error of a handler on once, and throws that of `next` in it', async () => {
      const { errors, statuses } = await serve(express, [
        limitOf({ handler: () => Promise.reject(new Error('the handler failed')) }),
      ]);
      expect(await statuses(2)).toEqual([200, 500]);
      expect(errors).toEqual([new Error('the handler failed')]);
      const limit = limitOf({
        handler: (_request: unknown, _response: unknown, next: (error: Error) => void) => next(new Error('over')),
      });
      const thrown: unknown[] = [];
      const composed: RequestHandler = async (request, response) => {
        const next = (error?: unknown) => {
          if (error !== undefined) throw error;
        };
        await Promise.resolve(limit(request, response, next)).catch((error) => thrown.push(error));
        response.end();
      };
      const second = await serve(express, [composed]);
      await second.statuses(2);
      expect(thrown).toEqual([new Error('over')]);
    });
  });

  test('leaves no rejection of a promise that nobody handles, as Express 4 handles none', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const failures: RequestHandler[] = [
      () => {
        throw new Error('the handler failed');
      },
      // The response to this error fails, too, so that `next` throws.
      () => {
        throw Object.assign(new Error('not a header'), { headers: { 'not a header': '' } });
      },
    ];
    const wrapping: RequestHandler = (request, response, next) => {
      limitWith({ limit: 1, window: '1m' })(request, response, () => {
        if (request.headers['x-role'] === undefined) throw new Error('no role');
        next();
      });
    };
    const limit = limitWith({ limit: 9, window: '1m' });
    for (const handler of failures) {
      const expressErrors: Error[] = [];
      const { statuses } = await serve(express, [limit], { handler, expressErrors });
      expect(await statuses(1)).toEqual([500]);
    }
    const { errors, statuses } = await serve(express, [wrapping]);
    expect(await statuses(1)).toEqual([500]);
    expect(errors).toEqual([new Error('no role')]);
    await setImmediate();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('does not continue with a delayed request whose client has left', async () => {
    const limit = limitWith({ limits: leakyBucket({ capacity: 1, interval: '1m' }), key: () => 'ann' });
    const { open, statuses, passed } = await serve(express, [awaiting(limit)]);
    await statuses(1);
    const socket = open();
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    const remaining = async () => (await limit.limiter.peek('ann')).remaining;
    await until(async () => (await remaining()) === 0);
    socket.destroy();
    await until(async () => (await remaining()) === 1);
    clock.ms += 120_000;
    expect(await statuses(1)).toEqual([200]);
    expect(passed).toHaveLength(2);
  });
});

test('without Express, the address of the connection counts', async () => {
  const limit = limitWith({ limit: 1, window: '1m', allowList: ['192.0.2.1'] }) as unknown as (
    request: IncomingMessage,
    response: ServerResponse,
    next: () => void,
  ) => void;
  const app = (request: IncomingMessage, response: ServerResponse) =>
    limit(request, response, () => response.end('hello'));
  const { port } = (await listen(app as never)).address() as { port: number };
  const send = async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    return [reply.status, reply.headers.get('x-ratelimit-remaining')];
  };
  expect([await send(), await send()]).toEqual([
    [200, '0'],
    [429, '0'],
  ]);
});

const options = { limit: 5, window: '1m', key: () => 'everyone' };

describe.each(EXPRESSES)('in Express %s', (_, express) => {
  /** Serves handlers, and returns what `read` sees of a request after them. */
  async function readAfter(handlers: RequestHandler[], read: (request: Request) => unknown): Promise<unknown> {
    let seen: unknown;
    const last: RequestHandler = (request, _response, next) => {
      seen = read(request);
      next();
    };
    const { statuses } = await serve(express, [...handlers, last]);
    expect(await statuses(1)).toEqual([200]);
    return seen;
  }

  test('a limiter adds one property to the request, because each one copies its hidden class', async () => {
    const keysOf = (request: Request) => Reflect.ownKeys(request);
    const without = (await readAfter([(_request, _response, next) => next()], keysOf)) as PropertyKey[];
    const added = (await readAfter([limitWith(options)], keysOf)) as PropertyKey[];
    expect(added.filter((key) => !without.includes(key))).toEqual(['rateLimit']);
  });

  test.each([
    [
      'called as a function',
      (inner: RequestHandler) =>
        (...args: Parameters<RequestHandler>) =>
          inner(...args),
    ],
    ['in a router', (inner: RequestHandler) => express.Router().use(inner)],
  ])('an app and an app that is %s see the decisions of each other', async (_, wrap) => {
    const inner = express();
    let seen: number | undefined;
    inner.use(((request, _response, next) => {
      seen = request.rateLimit?.limit;
      next();
    }) as RequestHandler);
    inner.use(limitWith({ ...options, limit: 3, prefix: 'inner' }));
    const after = await readAfter([limitWith(options), wrap(inner)], ({ rateLimit: decision }) => decision?.limit);
    expect([seen, after]).toEqual([5, 3]);
  });

  test('limiters with different property names do not change the other one', async () => {
    const limits = [limitWith(options), limitWith({ ...options, prefix: 'b', limit: 3, requestPropertyName: 'own' })];
    const seen = await readAfter(limits, (request) => [
      request.rateLimit?.limit,
      (request as { own?: { limit: number } }).own?.limit,
    ]);
    expect(seen).toEqual([5, 3]);
  });
});

const withStatus = (status: number) => Object.assign(new Error('own'), { status });

describe.each(EXPRESSES)('a withdrawn rejection in Express %s', (_, express) => {
  /** Returns the response to a rejected request that its handler passed on, after a middleware that sets a header. */
  async function handedOn(reason: unknown, own: Record<string, string> = {}, statusCode: unknown = 429) {
    const setFields: RequestHandler = (_request, response, next) => {
      for (const [name, value] of Object.entries(own)) response.setHeader(name, value);
      next();
    };
    const handler = (_request: unknown, _response: unknown, next: (reason?: unknown) => void) => next(reason);
    const { send, passed } = await serve(express, [limitWith({ ...usual, handler, statusCode })], {
      before: [setFields],
    });
    await send();
    const { status, headers } = await send();
    return { status, retryAfter: headers.get('retry-after'), cache: headers.get('cache-control'), passed };
  }

  test.each([429, 503])('an error with the status %d is a rejection, too, and keeps Retry-After', async (status) => {
    expect(await handedOn(withStatus(status))).toMatchObject({ retryAfter: '60', cache: 'no-store' });
  });

  test('an error with the status that a function returned is a rejection, too', async () => {
    expect(await handedOn(withStatus(413), {}, () => 413)).toMatchObject({ retryAfter: '60', cache: 'no-store' });
  });

  test.each([
    ['of another status', withStatus(403)],
    ['without a status', new Error('own')],
    ['that is no object', 'own'],
  ])('an error %s is not a rejection', async (_, reason) => {
    expect(await handedOn(reason)).toMatchObject({ status: 500, retryAfter: null, cache: null });
  });

  test('a request that continues gets a response without any trace of the rejection', async () => {
    for (const statusCode of [429, async () => 413]) {
      const { passed, ...reply } = await handedOn(undefined, {}, statusCode);
      expect(reply).toEqual({ status: 200, retryAfter: null, cache: null });
      expect(passed).toHaveLength(2);
    }
  });

  test.each([[undefined], [new Error('own')]])('Cache-Control has its earlier value after %p', async (reason) => {
    const { cache, retryAfter } = await handedOn(reason, { 'Cache-Control': 'private, max-age=5' });
    expect([cache, retryAfter]).toEqual(['private, max-age=5', null]);
  });

  test.each([
    ['throws', false],
    ['rejects', true],
  ])('a handler that responds and then %s calls the error handler, and its response stays', async (_, isAsync) => {
    const error = new Error('too late');
    const handler = (_request: unknown, response: { send(body: string): unknown }) => {
      response.send('no');
      if (isAsync) return Promise.reject(error);
      throw error;
    };
    const { send, errors } = await serve(express, [limitWith({ ...usual, handler })]);
    await send();
    const reply = await send();
    expect([reply.status, await reply.text(), reply.headers.get('retry-after')]).toEqual([429, 'no', '60']);
    expect(errors).toEqual([error]);
  });

  test.each([
    ['given', new Error('slow down'), 429],
    ['returned', () => new Error('slow down'), 429],
    ['promised', async () => new Error('slow down'), 429],
    ['with a status of its own', Object.assign(new Error('slow down'), { status: 418 }), 418],
  ])('a `message` that is an Error goes to the error handling of Express: %s', async (_, message, status) => {
    const seen: Error[] = [];
    const { send, passed } = await serve(express, [limitWith({ ...usual, message })], { expressErrors: seen });
    await (await send()).text();
    const reply = await send();
    expect([reply.status, (await reply.text()).includes('{}')]).toEqual([status, false]);
    expect(reply.headers.get('retry-after')).toBe('60');
    expect(seen.map((error) => error.message)).toEqual(['slow down']);
    expect(passed).toHaveLength(1);
  });

  test('a started response does not hang when an option fails', async () => {
    const key = () => Promise.reject(new Error('no key'));
    const before: RequestHandler = (_request, response, next) => {
      response.flushHeaders();
      next();
    };
    const { send } = await serve(express, [limitWith({ ...usual, key })], { before: [before] });
    await expect(send().then((reply) => reply.text())).rejects.toThrow();
  });
});
