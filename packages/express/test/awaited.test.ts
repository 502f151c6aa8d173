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
import type { RequestHandler } from 'express';

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
