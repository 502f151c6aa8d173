import { type RateLimitMiddleware, type RateLimitOptions, rateLimit, settle } from '@rollgate/web';
import { control, createScenarios, type Limiters, toBehavior, toSettled } from '../scenarios.js';
import { respond } from '../web-handler.js';

/** Creates the handler that every platform of the Fetch standard serves. */
export function createWeb(
  address: RateLimitOptions['address'],
): (request: Request, info: unknown, ...rest: unknown[]) => Promise<Response> {
  const limits: Record<string, RateLimitMiddleware> = {};
  const limiters: Limiters = {};
  for (const [name, options] of Object.entries(
    createScenarios<Request>((request, name) => request.headers.get(name)),
  )) {
    limits[name] = rateLimit({ ...options, address } as never);
    limiters[name] = limits[name].limiter;
  }
  const handlers = Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [
      name,
      limit(async (request) => {
        const behavior = toBehavior(request.headers.get('x-behavior'));
        const settled = toSettled(behavior);
        if (settled !== undefined) await settle(request, settled);
        return respond(behavior);
      }),
    ]),
  );
  return async (request, info, ...rest) => {
    const name = new URL(request.url).pathname.split('/')[1]!;
    if (name === 'control') return Response.json(await control(request.url, limiters));
    try {
      const response = await handlers[name]!(request, info, ...rest);
      return request.headers.get('x-behavior') === 'dropped' ? new Response('replaced') : response;
    } catch {
      return new Response('Internal Server Error', { status: 500 }); // As the platforms do, without their logs.
    }
  };
}
