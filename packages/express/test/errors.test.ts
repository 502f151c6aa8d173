import { once } from 'node:events';
import type { RateLimitOptions } from '@rollgate/express';
import request from 'supertest';
import { createApp, EXPRESSES, listen } from './support/limited-app';

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
