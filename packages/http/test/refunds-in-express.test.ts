import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { rollingWindow } from '@rollgate/core';
import { type RateLimitMiddleware, rateLimit } from '@rollgate/express';
import { clock, EXPRESSES, limitWith, memory, serve, storeWith, until } from '@rollgate/host-tests/express-servers';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import type { Request, RequestHandler, Response } from 'express';

const window = '1h';
const key = () => 'ann';
const raw = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${fields}\r\n`;

/** Returns the number of remaining units. */
const free = async ({ limiter }: RateLimitMiddleware) => (await limiter.peek('ann')).remaining;

/** Responds with the status in the path. */
const respondByPath: RequestHandler = (request, response) => void response.sendStatus(Number(request.path.slice(1)));

describe.each(EXPRESSES)('in Express %s', (_, express) => {
  const serveRefunding = async (options: object, handler: RequestHandler = respondByPath) => {
    const limit = limitWith({ limit: 10, window, key, ...options });
    return { limit, ...(await serve(express, [limit], { handler })) };
  };

  test.each([
    ['skipSuccessfulRequests', { 200: 10, 204: 10, 304: 10, 399: 10, 400: 9, 404: 9, 500: 9 }],
    ['skipFailedRequests', { 200: 9, 204: 9, 304: 9, 399: 9, 400: 10, 404: 10, 500: 10 }],
  ])('%s refunds by the status', async (option, left) => {
    for (const [status, remaining] of Object.entries(left)) {
      const { send, limit } = await serveRefunding({ [option]: true });
      const reply = await send(`/${status}`);
      expect(reply.headers.get('x-ratelimit-remaining')).toBe('9');
      await until(async () => (await free(limit)) === remaining);
    }
  });

  test('both together refund every request', async () => {
    const { limit, statuses } = await serveRefunding({
      skipSuccessfulRequests: true,
      skipFailedRequests: true,
      limit: 1,
    });
    for (const path of ['/200', '/500']) {
      for (let turn = 0; turn < 3; turn++) {
        expect(await statuses(1, path)).toEqual([Number(path.slice(1))]);
        await until(async () => (await free(limit)) === 1);
      }
    }
  });

  test('wrong passwords count, correct ones do not', async () => {
    const options = { limit: 2, skipSuccessfulRequests: true };
    const { limit, statuses } = await serveRefunding(options);
    expect(await statuses(2, '/401')).toEqual([401, 401]);
    expect(await statuses(1, '/200')).toEqual([429]);
    clock.ms += 3_600_000;
    expect(await statuses(1, '/200')).toEqual([200]);
    await until(async () => (await free(limit)) === 2);
  });

  test('an error in a later handler is a failure', async () => {
    const { limit, statuses } = await serveRefunding({ skipFailedRequests: true }, () => {
      throw new Error('out of order');
    });
    expect(await statuses(1)).toEqual([500]);
    await until(async () => (await free(limit)) === 10);
  });

  test.each([
    ['at once', (response: Response) => response.getHeader('x-kind') === 'cached'],
    ['with a promise', async (response: Response) => response.getHeader('x-kind') === 'cached'],
  ])('requestWasSuccessful decides %s, from the sent response', async (_, wasSuccessful) => {
    const evaluated: string[] = [];
    const requestWasSuccessful = (request: Request, response: Response) => {
      evaluated.push(request.path);
      return wasSuccessful(response);
    };
    const options = { skipSuccessfulRequests: true, requestWasSuccessful };
    const { send, limit } = await serveRefunding(options, (request, response) => {
      response.set('X-Kind', request.path === '/cached' ? 'cached' : 'fresh').send('hello');
    });
    await send('/fresh');
    await send('/cached');
    await until(async () => evaluated.length === 2 && (await free(limit)) === 9);
    expect(evaluated).toEqual(['/fresh', '/cached']);
  });

  test('refunds exactly the units of the request, in each limit', async () => {
    const limits = { burst: rollingWindow({ limit: 10, window: '1m' }), hourly: rollingWindow({ limit: 20, window }) };
    const limit = rateLimit({
      limits,
      cost: ({ query }) => Number(query.units),
      key: ({ query }) => ({ burst: String(query.user), hourly: 'all' }),
      skipFailedRequests: true,
      store: memory(),
    });
    const { send } = await serve(express, [limit], { handler: respondByPath });
    const left = async (burst: string) => {
      const limits = (await limit.limiter.peek({ burst, hourly: 'all' })).limits;
      return [limits.burst.remaining, limits.hourly.remaining];
    };
    await send('/200?units=2&user=ann');
    clock.ms += 1000;
    await send('/200?units=3&user=bob');
    await send('/500?units=5&user=ann');
    await until(async () => (await left('ann'))[1] === 15);
    expect(await left('ann')).toEqual([8, 15]);
    expect(await left('bob')).toEqual([7, 15]);
    clock.ms += 59_000;
    expect(await left('ann')).toEqual([10, 15]);
  });

  test('rejected requests and those of other limiters are not refunded', async () => {
    const store = memory();
    const wide = limitWith({ limit: 10, window, key, store, prefix: 'wide' });
    const narrow = limitWith({ limit: 1, window, key, store, prefix: 'narrow', skipFailedRequests: true });
    const { statuses } = await serve(express, [wide, narrow]);
    expect(await statuses(3)).toEqual([200, 429, 429]);
    expect(await free(narrow)).toBe(0);
    expect(await free(wide)).toBe(7);
  });

  test('a request that a later limiter rejects is a failure for the one before', async () => {
    const first = limitWith({ limit: 10, window, key, skipFailedRequests: true });
    const { statuses } = await serve(express, [first, limitWith({ limit: 1, window })]);
    expect(await statuses(3)).toEqual([200, 429, 429]);
    await until(async () => (await free(first)) === 9);
  });

  test('skipFailedRequests still limits a client that aborts each request', async () => {
    const { limit, open, passed } = await serveRefunding({ skipFailedRequests: true, limit: 3 }, () => {});
    for (let turn = 0; turn < 10; turn++) {
      const socket = open();
      socket.write(raw('/abort'));
      if (turn < 3) await until(() => passed.length === turn + 1);
      else await once(socket, 'data');
      socket.destroy();
      await until(() => passed.every(({ socket }) => socket.destroyed));
    }
    expect(passed).toHaveLength(3);
    expect(await free(limit)).toBe(0);
  });

  test.each([
    ['skipFailedRequests', 9],
    ['skipSuccessfulRequests', 9],
    ['skipAbortedRequests', 10],
  ])('a client that disconnects before the response, with %s', async (option, remaining) => {
    const disconnections: Promise<unknown>[] = [];
    const { limit, open, passed } = await serveRefunding({ [option]: true }, (request, response) => {
      if (request.path === '/200') response.send('hello');
      else disconnections.push(once(response, 'close').then(() => response.send('too late')));
    });
    const socket = open();
    socket.write(raw('/leaving'));
    await until(() => passed.length === 1);
    expect(await free(limit)).toBe(9);
    socket.destroy();
    await until(() => disconnections.length === 1);
    await disconnections[0];
    await flushPromises();
    expect(await free(limit)).toBe(remaining);
  });

  test.each([
    ['streamed and cut off half-way', (response: Response) => void response.write('half')],
    ['given in one piece and not all taken', (response: Response) => void response.send(Buffer.alloc(50_000_000))],
  ])('a response that is %s is aborted, neither failed nor successful', async (_, start) => {
    const responses: Response[] = [];
    const { limit, open } = await serveRefunding({ skipAbortedRequests: true }, (_request, response) => {
      responses.push(response);
      start(response);
    });
    const socket = open();
    socket.write(raw('/'));
    await once(socket, 'data');
    expect(await free(limit)).toBe(9);
    socket.destroy();
    await until(() => responses[0]!.req.socket.destroyed);
    await until(async () => (await free(limit)) === 10);
    const both = { skipFailedRequests: true, skipSuccessfulRequests: true };
    const charged = await serveRefunding(both, (_request, response) => {
      responses.push(response);
      start(response);
    });
    const other = charged.open();
    other.write(raw('/'));
    await once(other, 'data');
    other.destroy();
    await until(() => responses[1]!.req.socket.destroyed);
    await flushPromises();
    expect(await free(charged.limit)).toBe(9);
  });

  test('a disconnect after the whole response changes nothing', async () => {
    const { limit, open, passed } = await serveRefunding({ skipAbortedRequests: true, skipFailedRequests: true });
    const socket = open();
    socket.write(raw('/200'));
    await once(socket, 'data');
    socket.destroy();
    await until(() => passed[0]!.socket.destroyed);
    await flushPromises();
    expect(await free(limit)).toBe(9);
  });

  test('a response is evaluated once all of it is sent', async () => {
    const responses: Response[] = [];
    const { send, limit } = await serveRefunding({ skipSuccessfulRequests: true }, (_request, response) => {
      responses.push(response);
      response.write('half');
    });
    const reply = await send();
    expect(await free(limit)).toBe(9);
    responses[0]!.end(' and half');
    expect(await reply.text()).toBe('half and half');
    await until(async () => (await free(limit)) === 10);
  });

  test('each pipelined request is evaluated by its own response', async () => {
    const { limit, open } = await serveRefunding({ skipFailedRequests: true });
    const socket = open();
    socket.write(raw('/200') + raw('/500') + raw('/404') + raw('/200', 'Connection: close\r\n'));
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toHaveLength(4);
    await until(async () => (await free(limit)) === 8);
  });

  test('skipAbortedRequests refunds all pipelined requests of a disconnected client, and leaves no listener', async () => {
    const waiting: Response[] = [];
    const { limit, open } = await serveRefunding({ skipAbortedRequests: true }, (_request, response) => {
      waiting.push(response);
    });
    const socket = open();
    socket.write(raw('/1') + raw('/2') + raw('/3'));
    await until(() => waiting.length === 3);
    expect(await free(limit)).toBe(7);
    waiting[0]!.send('first');
    await once(socket, 'data');
    const [{ req }] = waiting as [Response];
    socket.destroy();
    await until(async () => (await free(limit)) === 9);
    expect(req.socket.listeners('close').filter(({ name }) => name === 'callAll')).toEqual([]);
  });

  test('on a keep-alive connection each request is evaluated once, and no listener stays', async () => {
    const { limit, passed, port } = await serveRefunding({ skipFailedRequests: true });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const listeners = new Set<number>();
    for (const path of ['/200', '/500', '/200', '/404', '/500']) {
      const [reply] = (await once(get({ port, agent, path }), 'response')) as [IncomingMessage];
      await text(reply);
      listeners.add(passed[0]!.socket.listenerCount('close'));
    }
    expect(new Set(passed.map(({ socket }) => socket)).size).toBe(1);
    agent.destroy();
    await until(() => passed[0]!.socket.destroyed);
    expect(await free(limit)).toBe(8);
    expect(listeners.size).toBe(1);
  });

  test.each([
    ['skipFailedRequests', 10],
    ['skipSuccessfulRequests', 9],
  ])('a request with a 503 during the decision is a failure, with %s', async (option, remaining) => {
    const inner = memory();
    const store = storeWith(
      {
        check: async (...args) => {
          await closed;
          return inner.check(...args);
        },
      },
      inner,
    );
    const limit = limitWith({ limit: 10, window, key, store, timeout: '1h', [option]: true });
    let closed: Promise<unknown> | undefined;
    const respondEarly: RequestHandler = (_request, response, next) => {
      closed = once(response, 'close');
      next();
      response.sendStatus(503);
    };
    const { errors, passed, statuses } = await serve(express, [limit], { before: [respondEarly] });
    expect(await statuses(1)).toEqual([503]);
    await until(async () => (await free(limit)) === remaining);
    await flushPromises();
    expect(await free(limit)).toBe(remaining);
    expect([errors, passed]).toEqual([[], []]);
  });
});
