import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { leakyBucket } from '@rollgate/core';
import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, listen, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import type { FastifyInstance, FastifyReply } from 'fastify';

const HOUR_MS = 3_600_000;
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });

test.each(['fastify', 'fastify50'])(
  'a queue delays requests that are injected into %s, and frees the starts of aborted ones',
  async (module) => {
    const script = `${__dirname}/support/injected.mjs`;
    const { stdout } = await promisify(execFile)(process.execPath, [script, module]);
    const { passed, ...rest } = JSON.parse(stdout) as { passed: [string, number][] };
    expect(rest).toEqual({ statuses: [200, 200, 200, 200, 429], before: 0, ended: 'aborted', after: 1 });
    expect(passed.map(([name]) => name)).toEqual(['0', '1', '2', '3']);
    for (const [turn, [, atMs]] of passed.entries()) expect(atMs).toBeGreaterThanOrEqual(turn * 50 - 0.001);
  },
);

describe.each(VERSIONS)('a queue in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function serveQueue(options: Partial<RateLimitPluginOptions> = {}) {
    const arrivals: FastifyReply[] = [];
    const passed: string[] = [];
    const app = await limited({ global: false, limits: slowQueue, key: () => 'all' });
    app.addHook('onRequest', async (_request, reply) => void arrivals.push(reply));
    const { hook = 'onRequest' } = options;
    const limit = app.rateLimit({ groupId: 'all' });
    app.all('/:name', { [hook]: limit }, async (request) => passed.push(request.url));
    const address = await listen(app);
    const hoursLeft = (hours: number) =>
      until(async () => (await limit.limiter.peek('all')).delayMs === hours * HOUR_MS);
    return { app, address, arrivals, passed, hoursLeft };
  }

  const open = (app: FastifyInstance) =>
    connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});

  test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)(
    'delays requests in the hook %s',
    async (hook) => {
      const { address, passed, hoursLeft } = await serveQueue({ hook });
      const headers = { 'content-type': 'application/json' };
      const options = { method: 'POST', body: JSON.stringify('hello'), headers };
      expect((await fetch(`${address}/first`, options)).status).toBe(200);
      const controller = new AbortController();
      const delayed = fetch(`${address}/delayed`, { ...options, signal: controller.signal });
      await hoursLeft(2);
      controller.abort('bored');
      await expect(delayed).rejects.toBe('bored');
      await hoursLeft(1);
      expect(passed).toEqual(['/first']);
    },
  );

  test.each([
    ['onRequest', 60_000, true],
    ['onRequest', 1_000_000, false],
    ['preParsing', 1_000_000, false],
    ['preValidation', 1_000_000, true],
    ['preHandler', 1_000_000, true],
  ] as const)('in the hook %s, a disconnect behind a body of %d bytes is detected: %p', async (...args) => {
    const [hook, bytes, isDetected] = args;
    const { app, address, arrivals, passed, hoursLeft } = await serveQueue({ hook });
    await fetch(`${address}/first`);
    const [leaving, other] = [open(app), open(app)];
    const type = 'Content-Type: text/plain\r\n';
    leaving.write(`POST /leaving HTTP/1.1\r\nHost: here\r\n${type}Content-Length: ${bytes}\r\n\r\n`);
    await new Promise((resolve) => leaving.write('x'.repeat(bytes), resolve));
    await hoursLeft(2);
    leaving.destroy();
    await once(leaving, 'close');
    if (isDetected) await hoursLeft(1);
    other.write('GET /other HTTP/1.1\r\nHost: here\r\n\r\n');
    await until(() => arrivals.length === 3);
    other.destroy();
    await until(() => arrivals[2]!.raw.req.socket.destroyed);
    await hoursLeft(isDetected ? 1 : 2);
    expect(arrivals[1]!.raw.req.socket.destroyed).toBe(isDetected);
    expect(passed).toEqual(['/first']);
  });

  test('frees the start of a delayed request to which other code responds', async () => {
    const { address, arrivals, passed, hoursLeft } = await serveQueue();
    await fetch(`${address}/first`);
    const delayed = fetch(`${address}/delayed`);
    await hoursLeft(2);
    arrivals[1]!.code(503).send('too slow');
    expect((await delayed).status).toBe(503);
    await hoursLeft(1);
    expect(passed).toEqual(['/first']);
  });
});
