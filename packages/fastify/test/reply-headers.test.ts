import { appsOf, serve, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import type { FastifyInstance, FastifyReply } from 'fastify';

describe.each(VERSIONS)('headers on the replies of Fastify %s', (_, fastify) => {
  const { create } = appsOf(fastify);
  let rateLimit: typeof import('@rollgate/fastify').rateLimit;

  // The plugin writes headers directly for the first copy of Fastify that it meets, so each version meets a new plugin.
  beforeEach(async () => {
    jest.resetModules();
    ({ rateLimit } = await import('@rollgate/fastify'));
  });

  const limit = (app: FastifyInstance) => app.register(rateLimit, { limit: 3, window: '10s' });

  const figuresOf = ({ headers }: Response) =>
    ['limit', 'remaining', 'reset'].map((figure) => headers.get(`x-ratelimit-${figure}`));

  test('are on every response, from the first', async () => {
    const app = create();
    await limit(app);
    app.get('/', async () => 'hello');
    const get = await serve(app);
    const found = [];
    for (let turn = 0; turn < 4; turn++) found.push(figuresOf(await get()));
    expect(found).toEqual([
      ['3', '2', '10'],
      ['3', '1', '10'],
      ['3', '0', '10'],
      ['3', '0', '10'],
    ]);
  });

  test('are visible to the route, which can change and remove them by any spelling', async () => {
    const app = create();
    await limit(app);
    const seen: unknown[] = [];
    app.get('/', async (_request, reply) => {
      seen.push([reply.getHeader('X-RateLimit-Remaining'), reply.hasHeader('x-ratelimit-limit')]);
      reply.header('X-RateLimit-Reset', 'later').removeHeader('X-RateLimit-Limit');
      return 'hello';
    });
    const get = await serve(app);
    const found = [figuresOf(await get()), figuresOf(await get())];
    expect(seen).toEqual([
      ['2', true],
      ['1', true],
    ]);
    expect(found).toEqual([
      [null, '2', 'later'],
      [null, '1', 'later'],
    ]);
  });

  test('go through a `reply.header` that the app replaces after the first request', async () => {
    const seen: [string, unknown][] = [];
    function header(this: FastifyReply, name: string, value: unknown) {
      seen.push([name, value]);
      return (Object.getPrototypeOf(this) as FastifyReply).header.call(this, name, value);
    }
    const app = create();
    app.addHook('onRequest', async (request, reply) => {
      if (request.url === '/?replaced') reply.header = header as never;
    });
    await limit(app);
    app.get('/', async () => 'hello');
    const get = await serve(app);
    const found = [];
    for (const path of ['/', '/?replaced', '/?replaced']) found.push(figuresOf(await get(path)));
    expect(found).toEqual([
      ['3', '2', '10'],
      ['3', '1', '10'],
      ['3', '0', '10'],
    ]);
    const figures = seen.filter(([name]) => name.startsWith('x-ratelimit-'));
    expect(figures.map(([name, value]) => `${name}: ${value}`)).toEqual([
      'x-ratelimit-limit: 3',
      'x-ratelimit-remaining: 1',
      'x-ratelimit-reset: 10',
      'x-ratelimit-limit: 3',
      'x-ratelimit-remaining: 0',
      'x-ratelimit-reset: 10',
    ]);
  });

  test('go through a `reply.header` that the app has replaced for all replies', async () => {
    const seen: string[] = [];
    const app = create();
    let restore = () => {};
    app.addHook('onRequest', async (_request, reply) => {
      let owner = reply as object;
      while (!Object.hasOwn(owner, 'header')) owner = Object.getPrototypeOf(owner);
      const { header: original } = owner as FastifyReply;
      if (seen.length > 0) return;
      Object.assign(owner, {
        header(this: FastifyReply, name: string, value: unknown) {
          seen.push(name);
          return original.call(this, name, value);
        },
      });
      restore = () => Object.assign(owner, { header: original });
    });
    await limit(app);
    app.get('/', async () => 'hello');
    const get = await serve(app);
    const found = [figuresOf(await get()), figuresOf(await get())];
    restore();
    expect(found).toEqual([
      ['3', '2', '10'],
      ['3', '1', '10'],
    ]);
    expect(seen.filter((name) => name === 'x-ratelimit-remaining')).toHaveLength(2);
  });

  test('keep a smaller value that a handler of Node has set', async () => {
    const app = create();
    app.addHook('onRequest', async (request, reply) => {
      if (request.url === '/?spent') reply.raw.setHeader('X-RateLimit-Remaining', '0');
    });
    await limit(app);
    app.get('/', async () => 'hello');
    const get = await serve(app);
    const found = [];
    for (const path of ['/', '/?spent']) found.push((await get(path)).headers.get('x-ratelimit-remaining'));
    expect(found).toEqual(['2', '0']);
  });
});
