import type { Framework, ProxyTrust } from '@rollgate/http';
import type { Context } from 'koa';

/** How the limiter reads Koa's requests and changes its responses. A context is both. */
export const KOA: Framework<Context, Context> = {
  name: 'rateLimit',
  ownOptions: ['handler'],
  resetUnit: 'epoch',
  getClientAddress: (ctx) => ctx.ip,
  getRequestHeader: (ctx, name) => ctx.req.headers[name],
  getProxyTrust,
  isDisconnected: (ctx) => ctx.req.socket.destroyed,
  getSettledRequest: (ctx) => ctx.req,
  getNodeResponse: (ctx) => ctx.res,
};

/** With `proxy`, Koa reads `X-Forwarded-For`: the last `maxIpsCount` entries, or all of them. */
function getProxyTrust({ app }: Context): ProxyTrust {
  if (!app.proxy) return 'none';
  return app.maxIpsCount > 0 ? 'some' : 'every';
}
