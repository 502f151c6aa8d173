import { EXPRESSES, limitWith, serve } from '@rollgate/host-tests/express-servers';
import type { RequestHandler } from 'express';

const usual = { limit: 1, window: '1m' };
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
