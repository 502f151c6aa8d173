import type { RequestHandler } from 'express';
import { EXPRESSES, limitWith, serve } from './support/serve';

const usual = { limit: 1, window: '1m' };
const withStatus = (status: number) => Object.assign(new Error('own'), { status });

describe.each(EXPRESSES)('a refusal taken back in Express %s', (_, express) => {
  /** The reply to a request that was refused and handed on by its handler, behind a middleware that sets a field. */
  async function handedOn(reason: unknown, own: Record<string, string> = {}) {
    const setFields: RequestHandler = (_request, response, next) => {
      for (const [name, value] of Object.entries(own)) response.setHeader(name, value);
      next();
    };
    const handler = (_request: unknown, _response: unknown, next: (reason?: unknown) => void) => next(reason);
    const { ask, passed } = await serve(express, [limitWith({ ...usual, handler })], { before: [setFields] });
    await ask();
    const { status, headers } = await ask();
    return { status, retryAfter: headers.get('retry-after'), cache: headers.get('cache-control'), passed };
  }

  test.each([429, 503])(
    'an error of the status %d is a refusal too, and keeps what tells when to come again',
    async (status) => {
      expect(await handedOn(withStatus(status))).toMatchObject({ retryAfter: '60', cache: 'no-store' });
    },
  );

  test.each([
    ['of another status', withStatus(403)],
    ['without a status', new Error('own')],
    ['that is no object', 'own'],
  ])('an error %s is none', async (_what, reason) => {
    expect(await handedOn(reason)).toMatchObject({ status: 500, retryAfter: null, cache: null });
  });

  test('a request that goes on is answered as if it had never been refused', async () => {
    const { passed, ...reply } = await handedOn(undefined);
    expect(reply).toEqual({ status: 200, retryAfter: null, cache: null });
    expect(passed).toHaveLength(2);
  });

  test.each([[undefined], [new Error('own')]])('after %p Cache-Control is what it was', async (reason) => {
    const { cache, retryAfter } = await handedOn(reason, { 'Cache-Control': 'private, max-age=5' });
    expect([cache, retryAfter]).toEqual(['private, max-age=5', null]);
  });
});
