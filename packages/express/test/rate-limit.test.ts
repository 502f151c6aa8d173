import { once } from 'node:events';
import { EXPRESSES, limitWith, serve, until } from '@rollgate/host-tests/express-servers';
import type { Express, Request, RequestHandler, Response } from 'express';

const usual = { limit: 1, window: '1m' };

function raise(thrown: unknown): never {
  throw thrown;
}

describe.each(EXPRESSES)('Express %s', (_, express) => {
  test('counts by the client’s address, resolved through trusted proxies only', async () => {
    let app!: Express;
    const configure = (created: Express) => {
      app = created;
    };
    const { statuses } = await serve(express, [limitWith(usual)], { configure });
    const from = async (address: string) => (await statuses(1, '/', { 'x-forwarded-for': address }))[0];
    expect([await from('203.0.113.1'), await from('203.0.113.2')]).toEqual([200, 429]);
    app.set('trust proxy', 1);
    expect([await from('203.0.113.1'), await from('203.0.113.2'), await from('203.0.113.1')]).toEqual([200, 200, 429]);
    expect([await from('2001:db8::1'), await from('2001:db8:0:ff::1')]).toEqual([200, 429]);
  });

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
