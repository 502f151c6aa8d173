import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import { rollingWindow } from '@rollgate/core';
import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, listen, serve, VERSIONS } from '@rollgate/host-tests/fastify-apps';

const TYPE = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const TITLE = 'Request cannot be satisfied as assigned quota has been exceeded';
const limits = { burst: rollingWindow({ limit: 1, window: '1m' }), daily: rollingWindow({ limit: 9, window: '1d' }) };

describe.each(VERSIONS)('a rejection in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function rejection(options: Partial<RateLimitPluginOptions>) {
    const app = await limited({ limit: 1, window: '1m', ...options } as RateLimitPluginOptions);
    const errors: unknown[] = [];
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
      errors.push(error);
      reply.code(error.statusCode ?? 500).send(error);
    });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    await get();
    const reply = await get();
    return { reply, body: await reply.json(), errors };
  }

  test('is sent as problem details over HTTP/1, and does not reach the error handler', async () => {
    const { reply, body, errors } = await rejection({
      limit: undefined,
      window: undefined,
      limits,
      problem: true,
    } as never);
    expect(reply.status).toBe(429);
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(Object.fromEntries(reply.headers)).toMatchObject({ 'retry-after': '60', 'cache-control': 'no-store' });
    expect(body).toEqual({
      type: TYPE,
      title: TITLE,
      status: 429,
      detail: 'Rate limit exceeded: try again in 60 seconds',
      'violated-policies': ['burst'],
    });
    expect(errors).toEqual([]);
  });

  test('is sent as problem details over HTTP/2, and without a body to HEAD', async () => {
    const app = await limited({ limit: 1, window: '1m', problem: true, statusCode: 503 }, { http2: true } as never);
    app.get('/', async () => 'hello');
    const session = connectHttp2(await listen(app));
    const send = async (method: string): Promise<[IncomingHttpHeaders, string]> => {
      const stream = session.request({ ':path': '/', ':method': method });
      const [headers] = await once(stream, 'response');
      return [headers, await text(stream)];
    };
    await send('GET');
    const [headers, body] = await send('GET');
    expect(headers).toMatchObject({ ':status': 503, 'retry-after': '60', 'cache-control': 'no-store' });
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(body)).toMatchObject({ type: TYPE, status: 503, 'violated-policies': ['default'] });
    const [ofHead, nothing] = await send('HEAD');
    expect([ofHead[':status'], nothing]).toEqual([503, '']);
    expect(ofHead['content-type']).toMatch(/^application\/problem\+json/);
    session.close();
  });

  test('a handler replaces both', async () => {
    const handler = async () => ({ mine: true });
    const { reply, body, errors } = await rejection({ problem: true, handler });
    expect([reply.status, body, errors]).toEqual([429, { mine: true }, []]);
  });
});
