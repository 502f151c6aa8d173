import { appsOf, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import type { RequestEvent } from '@rollgate/http';
import { recordEvents } from '@rollgate/test-support/record-events';
import type { FastifyRequest } from 'fastify';

describe.each(VERSIONS)('a dry run in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test('works on a route, and together with a limit that rejects', async () => {
    const app = await limited({ limit: 1, window: '1m', dryRun: true });
    app.get('/dry-run', { config: { rateLimit: {} } }, async () => 'hello');
    app.get('/limited', { config: { rateLimit: { dryRun: false } } }, async () => 'limited');
    expect(await statuses(await serve(app), '/dry-run', '/dry-run', '/limited', '/limited')).toEqual([
      200, 200, 200, 429,
    ]);
  });

  test.each([true, false])(
    'the channel `rollgate:request` publishes every decision, with dryRun %p',
    async (dryRun) => {
      const { events, stop } = recordEvents<RequestEvent>('rollgate:request');
      try {
        const skip = (request: FastifyRequest) => request.url === '/skipped';
        const app = await limited({ limit: 1, window: '1m', dryRun, skip });
        app.get('/:name', async () => 'hello');
        const get = await serve(app);
        await statuses(get, '/a', '/skipped', '/b');
        expect(events).toHaveLength(2);
        for (const [turn, event] of events.entries()) {
          expect(event.limiter).toBe(app.rateLimiter);
          expect((event.request as FastifyRequest).routeOptions.url).toBe('/:name');
          expect((event.request as FastifyRequest).rateLimit).toBe(event.decision);
          expect([event.decision.allowed, event.dryRun]).toEqual([turn === 0, dryRun]);
        }
      } finally {
        stop();
      }
    },
  );
});
