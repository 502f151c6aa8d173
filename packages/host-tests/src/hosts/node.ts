import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { type RateLimitMiddleware, type Request, rateLimit, settle } from '@rollgate/node';
import { respond, startResponse } from '../node-handler.js';
import { control, createScenarios, type Limiters, toBehavior, toSettled } from '../scenarios.js';

function createListener(): (request: IncomingMessage, response: ServerResponse) => void {
  const limits: Record<string, RateLimitMiddleware> = {};
  const limiters: Limiters = {};
  const read = (request: Request, header: string) => request.headers[header] as string | undefined;
  for (const [name, options] of Object.entries(createScenarios<Request>(read))) {
    limits[name] = rateLimit({ ...options, onError } as never);
    limiters[name] = limits[name].limiter;
  }
  const listeners = Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [
      name,
      limit(async (request: Request, response) => {
        const behavior = toBehavior(read(request, 'x-behavior'));
        const settled = toSettled(behavior);
        if (settled !== undefined) await settle(request, settled);
        respond(behavior, response as never);
      }),
    ]),
  );
  return (request, response) => {
    const name = request.url!.split('/')[1]!;
    if (name === 'control') {
      control(request.url!, limiters).then(
        (state) => response.end(JSON.stringify(state)),
        () => response.destroy(),
      );
      return;
    }
    if (name === 'started') startResponse(request, response);
    listeners[name]!(request, response);
  };
}

function onError(error: Error & { statusCode?: number }, _request: Request, response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else {
    response.statusCode = error.statusCode ?? 500;
    response.end(error.message);
  }
}

export const createHttp = (): Server => createServer(createListener());
export const createHttp2 = (): Http2Server => createHttp2Server(createListener() as never);
