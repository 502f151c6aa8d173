import { type Framework, resolveByPrototype } from '@rollgate/http';
import type { Context } from 'koa';

/** How the limiter reads Koa's requests and changes its responses. A context is both. */
export const KOA: Framework<Context, Context> = {
  name: 'rateLimit',
  ownOptions: ['address', 'handler'],
  resetUnit: 'epoch',
  getClientAddress: (ctx) => ctx.ip,
  getRequestHeader: (ctx, name) => ctx.req.headers[name],
  getConnection: ({ app, req, request }) => ({
    peer: req.socket.remoteAddress,
    resolve: (remoteAddress, forwardedFor) =>
      resolveByPrototype(Object.getPrototypeOf(request), {
        app,
        req: { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } },
      }),
  }),
  isDisconnected: (ctx) => ctx.req.socket.destroyed,
  getSettledRequest: (ctx) => ctx.req,
  getNodeResponse: (ctx) => ctx.res,
};
