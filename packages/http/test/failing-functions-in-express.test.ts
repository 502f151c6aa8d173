import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { rollingWindow } from '@rollgate/core';
import { EXPRESSES, limitWith, serve } from '@rollgate/host-tests/express-servers';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import type { RequestHandler } from 'express';

const onePerMinute = { limit: 1, window: '1m' };
const limits = rollingWindow({ limit: 1, window: '1m' });
const invalidNumbers = [undefined, null, Number.NaN, Infinity, 0, -1, 1.5, '1', {}];

/** The functions that decide a request, other options that they need, and invalid return values. */
const DECIDING: [string, object, unknown[]][] = [
  ['skip', onePerMinute, [undefined, null, 0, 1, '', 'no', {}]],
  ['key', onePerMinute, [true, Number.NaN, '', {}, { other: 'ann' }, { default: true }, { default: '' }, ['ann']]],
  ['cost', onePerMinute, [...invalidNumbers.slice(0, -1), { other: 1 }, { default: -1 }, { default: '1' }]],
  ['limit', { window: '1m' }, invalidNumbers.filter((value) => value !== 0 && value !== Infinity)],
  ['window', { limit: 1 }, [undefined, null, Number.NaN, Infinity, 0, -1, '1', 'soon', '-1m', {}]],
  ['limits', {}, [undefined, null, 5, 'all', {}, [], { default: 5 }, { 'no name': limits }]],
];
/** The functions that run for a rejection only. Rollgate ignores what `onLimited` returns. */
const REJECTING: [string, object, unknown[]][] = [
  ['onLimited', onePerMinute, []],
  ['statusCode', onePerMinute, [undefined, null, '429', 200, 600, 429.5, Number.NaN]],
  ['message', onePerMinute, [undefined, null, 5, true, () => 'no', { big: 1n }, { html: 5 }]],
];

const thrown = new Error('no session');
const never = new Promise<never>(() => {});
const raise = (error: unknown): never => {
  throw error;
};
type Then = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void;
const thenable = (then: Then) => ({ then });

describe.each(EXPRESSES)('in Express %s', (_, express) => {
  const serveWith = (options: object, before: RequestHandler[] = []) => {
    const handler: RequestHandler = (_request, response) => void response.send('hello');
    return serve(express, [limitWith({ timeout: 20, ...options })], { before, handler });
  };

  /** Sends a request, after a first one if only rejections matter, and checks what must hold after any failure. */
  async function fail(name: string, options: object) {
    const { send, errors, passed } = await serveWith(options);
    const isRejecting = REJECTING.some(([rejecting]) => rejecting === name);
    if (isRejecting) await send();
    const reply = await send();
    expect(reply.status).toBe(500);
    for (const field of ['retry-after', 'cache-control']) expect(reply.headers.get(field)).toBeNull();
    expect(passed).toHaveLength(isRejecting ? 1 : 0);
    expect(errors).toHaveLength(1);
    return errors[0]!;
  }

  describe.each([...DECIDING, ...REJECTING])('the function %s', (name, otherOptions, invalidValues) => {
    test.each([
      ['throws', () => raise(thrown)],
      ['rejects', () => Promise.reject(thrown)],
      ['is a thenable that rejects', () => thenable((_, reject) => reject(thrown))],
      ['is a thenable that throws', () => thenable(() => raise(thrown))],
    ])('that %s goes to the error handler, once', async (_, bad) => {
      expect(await fail(name, { ...otherOptions, [name]: bad })).toBe(thrown);
    });

    test.each([undefined, null, 'route', 'router', 0])('that fails with %p allows no request', async (reason) => {
      for (const bad of [() => Promise.reject(reason), () => raise(reason)]) {
        const error = await fail(name, { ...otherOptions, [name]: bad });
        expect(error.message).toContain('Expected option functions and stores to throw errors');
      }
    });

    test.each([
      ['hangs', () => never],
      ['resolves with a thenable that hangs', () => thenable((resolve) => resolve(thenable(() => {})))],
    ])('that %s fails with an error that names it after the timeout', async (_, bad) => {
      const error = await fail(name, { ...otherOptions, [name]: bad });
      expect(error.message).toBe(`\`${name}\` did not settle within 20 ms. Make it faster or raise \`timeout\``);
    });

    test('has no effect after the timeout', async () => {
      const settles: (() => void)[] = [];
      const bad = () =>
        new Promise((resolve, reject) =>
          settles.push(settles.length === 0 ? () => resolve('late') : () => reject(thrown)),
        );
      for (const _turn of [1, 2]) {
        const { send, errors, passed } = await serveWith({ ...otherOptions, [name]: bad });
        if (REJECTING.some(([rejecting]) => rejecting === name)) await send();
        expect((await send()).status).toBe(500);
        const before = passed.length;
        settles.at(-1)!();
        await flushPromises();
        expect(errors).toHaveLength(1);
        expect(passed).toHaveLength(before);
      }
    });

    if (invalidValues.length > 0) {
      test.each(invalidValues.map((value) => [value]))('that returns %p fails, sync or async', async (value) => {
        for (const bad of [() => value, async () => value]) {
          const error = await fail(name, { ...otherOptions, [name]: bad });
          expect(error).toBeInstanceOf(Error);
          expect(error.message).toContain(name);
          expect(error.message).toMatch(/Expected|Unknown limit/);
        }
      });
    }
  });

  test.each([
    ['limit', 'window'],
    ['window', 'limit'],
  ])('when %s rejects and %s throws, the error handler gets one error', async (rejecting, throwing) => {
    const functions = {
      [rejecting]: () => Promise.reject(thrown),
      [throwing]: () => {
        throw new Error('no plan');
      },
    };
    expect(['no session', 'no plan']).toContain((await fail('limit', functions)).message);
    expect(await fail('limit', { ...functions, [throwing]: () => never })).toBe(thrown);
    const both = await fail('limit', { limit: () => never, window: () => never });
    expect(both.message).toBe('`limit` or `window` did not settle within 20 ms. Make it faster or raise `timeout`');
  });

  test.each(DECIDING)('a failure of %s in a dry run affects no request', async (name, otherOptions) => {
    for (const bad of [() => raise(thrown), () => Promise.reject(thrown), () => never, () => Number.NaN]) {
      const { errors, passed, statuses } = await serveWith({ ...otherOptions, dryRun: true, [name]: bad });
      expect(await statuses(2)).toEqual([200, 200]);
      expect(passed.map(({ rateLimit }) => rateLimit)).toEqual([undefined, undefined]);
      expect(errors).toEqual([]);
    }
  });

  test('a failure of onLimited in a dry run affects no request', async () => {
    const options = { ...onePerMinute, dryRun: true, silence: ['ROLLGATE_DRY_RUN_FAILED'] } as const;
    const { send, errors } = await serveWith({ ...options, onLimited: () => Promise.reject(thrown) });
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    expect(errors).toEqual([]);
  });

  test('a request that fails is not counted', async () => {
    let fails = true;
    const cost = async () => (fails ? Number.NaN : 1);
    const { statuses } = await serveWith({ ...onePerMinute, cost });
    expect(await statuses(3)).toEqual([500, 500, 500]);
    fails = false;
    expect(await statuses(2)).toEqual([200, 429]);
  });

  describe('after other code has responded', () => {
    const respondEarly: RequestHandler = (_request, response, next) => {
      next();
      if (!response.headersSent) response.status(503).send('too slow');
    };

    test.each([...DECIDING, ...REJECTING])('a late failure of %s has no effect', async (name, otherOptions) => {
      let failNow = () => {};
      const bad = () =>
        new Promise((_resolve, reject) => {
          failNow = () => reject(thrown);
        });
      const { errors, open } = await serveWith({ ...otherOptions, timeout: '1h', [name]: bad }, [
        (request, response, next) => (request.path === '/late' ? respondEarly(request, response, next) : next()),
      ]);
      const socket = open();
      if (REJECTING.some(([rejecting]) => rejecting === name)) {
        socket.write('GET /first HTTP/1.1\r\nHost: here\r\n\r\n');
        await once(socket, 'data');
      }
      socket.write('GET /late HTTP/1.1\r\nHost: here\r\n\r\n');
      const [received] = (await once(socket, 'data')) as [Buffer];
      expect(String(received)).toContain('HTTP/1.1 503');
      failNow();
      await flushPromises();
      expect(errors).toEqual([]);
      expect(socket.destroyed).toBe(false);
      socket.destroy();
    });
  });

  describe('a handler', () => {
    const rejectWith = async (handler: unknown) => {
      const served = await serveWith({ ...onePerMinute, handler });
      await served.send();
      return { ...served, reply: await served.send() };
    };

    test.each([
      ['throws', () => raise(thrown)],
      ['rejects', () => Promise.reject(thrown)],
    ])('that %s before it responds leaves no header of a rejection', async (_, handler) => {
      const { errors, reply } = await rejectWith(handler);
      expect(reply.status).toBe(500);
      for (const field of ['retry-after', 'cache-control']) expect(reply.headers.get(field)).toBeNull();
      expect(errors).toEqual([thrown]);
    });

    test.each([
      [
        'throws',
        (response: { send(body: string): unknown }) => {
          response.send('no');
          throw thrown;
        },
      ],
      [
        'rejects',
        async (response: { send(body: string): unknown }) => {
          response.send('no');
          throw thrown;
        },
      ],
    ])('that responds and then %s calls the error handler, and its response stays', async (_, respond) => {
      const { errors, reply, statuses } = await rejectWith(
        (_request: unknown, response: { send(body: string): unknown }) => respond(response),
      );
      expect([reply.status, await reply.text()]).toEqual([429, 'no']);
      expect(reply.headers.get('retry-after')).toBe('60');
      expect(errors).toEqual([thrown]);
      expect(await statuses(1)).toEqual([429]);
    });
  });

  test('a failed request does not affect pipelined requests behind it', async () => {
    const key = (request: { path: string }) => (request.path === '/bad' ? Promise.reject(thrown) : request.path);
    const { open } = await serveWith({ ...onePerMinute, key });
    const socket = open();
    const raw = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${fields}\r\n`;
    socket.write(raw('/bad') + raw('/a') + raw('/a') + raw('/b', 'Connection: close\r\n'));
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(
      [500, 200, 429, 200].map((status) => `HTTP/1.1 ${status}`),
    );
  });
});
