import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttp1Client } from '@rollgate/host-tests/client';
import { type RateLimitOptions, rateLimit } from '@rollgate/koa';
import { until } from '@rollgate/test-support';
import { bundleCopies } from '@rollgate/test-support/fresh-copies';
import Koa, { type Middleware } from 'koa';

const LIMIT: RateLimitOptions = { limit: 1, window: '1m', key: () => 'ann' };

/** Serves the middleware while `run` sends requests. Returns the messages of the errors that reached the app. */
async function serve(
  middleware: Middleware[],
  run: (port: number) => Promise<void>,
  options?: ConstructorParameters<typeof Koa>[0],
): Promise<string[]> {
  const app = new Koa(options);
  const errors: string[] = [];
  app.on('error', (error: Error) => errors.push(error.message));
  for (const each of middleware) app.use(each);
  const server = app.listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    await run((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return errors;
}

/** A promise that a test settles. */
function createGate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** Sends a request, and disconnects when `isReached` returns `true`. */
async function disconnect(port: number, isReached: () => boolean): Promise<void> {
  const sent = request({ host: '127.0.0.1', port, agent: false }).on('error', () => {});
  sent.end();
  await until('the server has the request', async () => isReached());
  sent.destroy();
}

/** A middleware that logs how the one inside it ends, as a transaction does, and whether its client has left. Then it awaits `end`. */
const createTransaction =
  (log: string[], end?: Promise<void>): Middleware =>
  async (ctx, next) => {
    log.push('begin');
    ctx.res.once('close', () => log.push('client left'));
    await next().then(
      () => log.push('commit'),
      (error) => {
        log.push(`rollback: ${error.message}`);
        throw error;
      },
    );
    await end;
  };

describe('a client that disconnects', () => {
  test.each<[string, RateLimitOptions['key']]>([
    ['at once', () => 'ann'],
    ['later', async () => 'ann'],
  ])('does not end the middleware around a handler before it, when the limiter has decided %s', async (_, key) => {
    const log: string[] = [];
    const { open, opened } = createGate();
    const handler: Middleware = async () => {
      log.push('handler');
      await opened;
      throw new Error('the handler failed');
    };
    const errors = await serve([createTransaction(log), rateLimit({ ...LIMIT, key }), handler], async (port) => {
      await disconnect(port, () => log.includes('handler'));
      await until('the server has noticed', async () => log.includes('client left'));
      open();
      await until('the transaction has ended', async () => log.length === 4);
    });
    expect(log).toEqual(['begin', 'handler', 'client left', 'rollback: the handler failed']);
    expect(errors).toEqual(['the handler failed']);
  });

  test('before the decision drops its request, so no handler runs after the middleware around it', async () => {
    const log: string[] = [];
    const decision = createGate();
    const end = createGate();
    const limit = rateLimit({ ...LIMIT, key: () => decision.opened.then(() => 'ann') });
    const handler: Middleware = () => void log.push('handler');
    await serve([createTransaction(log, end.opened), limit, handler], async (port) => {
      await disconnect(port, () => log.includes('begin'));
      await until('the server has noticed', async () => log.includes('client left'));
      decision.open();
      await until('the transaction has ended', async () => log.includes('commit'));
      expect((await limit.limiter.peek('ann')).remaining).toBe(0);
      end.open();
    });
    expect(log).toEqual(['begin', 'client left', 'commit']);
  });

  test('before the decision does not hide the failure of an option function', async () => {
    const log: string[] = [];
    const decision = createGate();
    const end = createGate();
    const key = () => decision.opened.then(() => Promise.reject(new Error('the key failed')));
    const errors: string[] = await serve(
      [createTransaction(log, end.opened), rateLimit({ ...LIMIT, key })],
      async (port) => {
        await disconnect(port, () => log.includes('begin'));
        await until('the server has noticed', async () => log.includes('client left'));
        decision.open();
        await until('the transaction has ended', async () => log.length === 3);
        end.open();
      },
    );
    expect(errors).toEqual(['the key failed']);
  });

  test('does not hide the failure of a handler that responds to its rejection', async () => {
    const log: string[] = [];
    const { open, opened } = createGate();
    const handler = async () => {
      log.push('handler');
      await opened;
      throw new Error('the handler failed');
    };
    const limit = rateLimit({ ...LIMIT, key: async () => 'ann', handler });
    await limit.limiter.check('ann');
    const errors = await serve([createTransaction(log), limit], async (port) => {
      await disconnect(port, () => log.includes('handler'));
      await until('the server has noticed', async () => log.includes('client left'));
      open();
      await until('the transaction has ended', async () => log.length === 4);
    });
    expect(log.at(-1)).toBe('rollback: the handler failed');
    expect(errors).toEqual(['the handler failed']);
  });
});

describe('the response to an error', () => {
  const send = (port: number) => createHttp1Client(port).open('/').reply;

  test('has the headers of the limiter', async () => {
    const handler: Middleware = (ctx) => {
      ctx.set('Cache-Control', 'public');
      ctx.set('X-Other', 'yes');
      return ctx.throw(401, 'who are you?', { headers: { 'WWW-Authenticate': 'Basic' } });
    };
    await serve([rateLimit({ ...LIMIT, headers: 'all', exposeHeaders: true }), handler], async (port) => {
      const { status, headers } = await send(port);
      expect(status).toBe(401);
      expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'www-authenticate': 'Basic' });
      expect(headers).toHaveProperty('ratelimit-policy');
      expect(headers).toHaveProperty('access-control-expose-headers');
      expect(headers).not.toHaveProperty('cache-control');
      expect(headers).not.toHaveProperty('x-other');
    });
  });

  test('sets the headers of each request, even if requests share the error', async () => {
    const error = new Error('always the same');
    const handler: Middleware = () => {
      throw error;
    };
    await serve([rateLimit({ ...LIMIT, limit: 3 }), handler], async (port) => {
      for (const remaining of ['2', '1', '0']) {
        expect((await send(port)).headers).toMatchObject({ 'x-ratelimit-remaining': remaining });
      }
    });
    expect(error).not.toHaveProperty('headers');
  });

  test('has the headers of the rejection, when the option `message` is that error', async () => {
    const message = new Error('Used up');
    await serve([rateLimit({ ...LIMIT, message })], async (port) => {
      await send(port);
      const { status, headers, body } = await send(port);
      expect([status, body]).toEqual([429, 'Used up']);
      expect(headers).toMatchObject({ 'retry-after': '60', 'cache-control': 'no-store', 'x-ratelimit-remaining': '0' });
    });
    expect(message).not.toHaveProperty('headers');
  });
});

test.each([
  ['text'],
  [7],
  [{ message: 'no error' }],
  [Object.assign(new Error('hidden'), { headers: { 'x-own': '1' } })],
])('a handler that throws %p keeps the headers of the limit', async (thrown) => {
  const handler: Middleware = () => {
    throw thrown;
  };
  const errors = await serve([rateLimit(LIMIT), handler], async (port) => {
    const { status, headers } = await createHttp1Client(port).open('/').reply;
    expect(status).toBe(500);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
  });
  expect(errors).toEqual([thrown instanceof Error ? 'hidden' : `non-error thrown: ${JSON.stringify(thrown)}`]);
});

test('code that awaits the middleware continues after its decision, and gets what `next` throws', async () => {
  const limit = rateLimit({ ...LIMIT, key: async () => 'ann' });
  const log: string[] = [];
  const composed: Middleware = async (ctx) => {
    try {
      await limit(ctx, async () => {
        throw new Error('the handler failed');
      });
      log.push(`rejected with ${ctx.status}`);
    } catch (error) {
      log.push((error as Error).message);
      ctx.body = 'failed';
    }
  };
  await serve([composed], async (port) => {
    for (const _turn of [1, 2]) await createHttp1Client(port).open('/').reply;
  });
  expect(log).toEqual(['the handler failed', 'rejected with 429']);
});

describe('the warning about proxies', () => {
  type Packages = { '@rollgate/koa': typeof import('@rollgate/koa') };
  /** Loads a copy that has emitted no warning yet. */
  let load: () => Packages;
  beforeAll(async () => {
    load = await bundleCopies<Packages>('@rollgate/koa');
  });
  afterEach(() => jest.restoreAllMocks());

  /** Sends requests of four clients behind a proxy. Returns the warnings, and whether the clients count apart. */
  async function warningsWith(options: ConstructorParameters<typeof Koa>[0]) {
    const codes: unknown[] = [];
    const statuses: number[] = [];
    jest.spyOn(process, 'emitWarning').mockImplementation((_message, given) => {
      codes.push((given as { code?: string }).code);
    });
    const handler: Middleware = (ctx) => {
      ctx.body = 'hello';
    };
    const send = async (port: number) => {
      for (let client = 1; client <= 4; client++) {
        const headers = { 'X-Forwarded-For': `198.51.100.${client}`, 'X-Real-IP': `198.51.100.${client}` };
        statuses.push((await fetch(`http://127.0.0.1:${port}`, { headers })).status);
      }
    };
    await serve([load()['@rollgate/koa'].rateLimit({ limit: 1, window: '1h' }), handler], send, options);
    return { codes, statuses };
  }

  const apart = [200, 200, 200, 200];
  const together = [200, 429, 429, 429];
  test.each([
    [{}, { codes: ['ROLLGATE_UNTRUSTED_PROXY'], statuses: together }],
    [
      { proxy: false, maxIpsCount: 1 },
      { codes: ['ROLLGATE_UNTRUSTED_PROXY'], statuses: together },
    ],
    [{ proxy: true }, { codes: ['ROLLGATE_TRUSTS_EVERY_PROXY'], statuses: apart }],
    [
      { proxy: true, maxIpsCount: -1 },
      { codes: ['ROLLGATE_TRUSTS_EVERY_PROXY'], statuses: apart },
    ],
    [
      { proxy: true, maxIpsCount: 1 },
      { codes: [], statuses: apart },
    ],
    [
      { proxy: true, proxyIpHeader: 'X-Real-IP' },
      { codes: [], statuses: apart },
    ],
    [
      { proxy: true, proxyIpHeader: 'X-Missing' },
      { codes: ['ROLLGATE_UNTRUSTED_PROXY'], statuses: together },
    ],
  ])('with the settings %j', async (options, expected) => {
    expect(await warningsWith(options)).toEqual(expected);
  });
});
