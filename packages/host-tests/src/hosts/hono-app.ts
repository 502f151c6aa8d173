import { type RateLimitOptions, rateLimit, settle } from '@rollgate/hono';
import { type Context, Hono } from 'hono';
import { control, createScenarios, type Limiters, toBehavior, toSettled } from '../scenarios.js';
import { respond } from '../web-handler.js';

/** Creates the app that every platform of Hono serves. */
export function createHono(address: RateLimitOptions['address']): Hono {
  const app = new Hono();
  const limiters: Limiters = {};
  app.use(async (c, next) => {
    await next();
    if (c.req.header('x-behavior') === 'dropped') c.res = new Response('replaced');
  });
  for (const [name, options] of Object.entries(createScenarios<Context>((c, header) => c.req.header(header)))) {
    const limit = rateLimit({ ...options, address } as never);
    limiters[name] = limit.limiter;
    app.use(`/${name}`, limit);
    app.all(`/${name}`, async (c) => {
      const behavior = toBehavior(c.req.header('x-behavior'));
      const settled = toSettled(behavior);
      if (settled !== undefined) await settle(c, settled);
      return respond(behavior);
    });
  }
  app.get('/control/*', async (c) => c.json(await control(c.req.url, limiters)));
  app.onError((error, c) => ('getResponse' in error ? error.getResponse() : c.text('Internal Server Error', 500)));
  return app;
}
