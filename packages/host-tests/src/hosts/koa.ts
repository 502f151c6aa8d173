import { createServer, type Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { type RateLimitMiddleware, rateLimit, settle } from '@rollgate/koa';
import Koa, { type Context } from 'koa';
import { startResponse } from '../node-handler.js';
import {
  control,
  createScenarios,
  type Limiters,
  PARTS,
  toBehavior,
  toBody,
  toSettled,
  toStatus,
} from '../scenarios.js';

export function createKoa(): Server {
  const app = new Koa();
  app.silent = true;
  const limits: Record<string, RateLimitMiddleware> = {};
  const limiters: Limiters = {};
  for (const [name, options] of Object.entries(
    createScenarios<Context>((ctx, header) => ctx.get(header) || undefined),
  )) {
    limits[name] = rateLimit(options as never);
    limiters[name] = limits[name].limiter;
  }
  app.use(async (ctx) => {
    const name = ctx.path.split('/')[1]!;
    if (name === 'control') ctx.body = await control(ctx.url, limiters);
    else {
      if (name === 'started') {
        ctx.respond = false;
        startResponse(ctx.req, ctx.res);
      }
      await limits[name]!(ctx, async () => {
        const settled = toSettled(toBehavior(ctx.get('x-behavior') || undefined));
        if (settled !== undefined) await settle(ctx, settled);
        handle(ctx);
      });
    }
  });
  return createServer(app.callback());
}

function handle(ctx: Context): void {
  if (ctx.res.headersSent) {
    ctx.res.end(PARTS[1]);
    return;
  }
  const behavior = toBehavior(ctx.get('x-behavior') || undefined);
  if (behavior === 'throw') throw new Error('The handler failed');
  ctx.type = 'text/plain';
  if (behavior !== 'stream' && behavior !== 'endless') ctx.body = toBody(behavior);
  else {
    const stream = new PassThrough();
    stream.write(PARTS[0]);
    if (behavior === 'stream') stream.end(PARTS[1]);
    ctx.body = stream;
  }
  ctx.status = toStatus(behavior); // After the body, because `null` sets 204.
}
