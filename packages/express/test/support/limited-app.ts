import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { MemoryStore } from '@rollgate/core';
import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { WARNING_CODES } from '@rollgate/http';
import express5, { type ErrorRequestHandler, type Express } from 'express';
import express4 from 'express4';

/** For `describe.each`. */
export const EXPRESSES = [
  ['5', express5],
  ['4', express4],
] as const;

/** The clock of all apps here. Tests move it. */
export const clock = { ms: 0, now: () => clock.ms };
beforeEach(() => {
  clock.ms = 1_000_000;
});

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** Starts a real server on a free port of the loopback interface. */
export async function listen(app: Express): Promise<Server> {
  const server = createServer(app);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** Creates an app with one route behind the limit, which sends its errors as JSON. */
export function createApp(express: typeof express5, options: Partial<RateLimitOptions>) {
  const errors: unknown[] = [];
  const app = express();
  const store = options.store ?? new MemoryStore({ clock });
  const middleware = rateLimit({ silence: WARNING_CODES, ...options, store } as RateLimitOptions);
  app.use(middleware);
  app.get('/', (request, response) => {
    response.json({ allowed: request.rateLimit?.allowed, remaining: request.rateLimit?.remaining });
  });
  const onError: ErrorRequestHandler = (error, _request, response, next) => {
    errors.push(error);
    if (response.headersSent) next(error);
    else response.status(500).json({ error: String(error) });
  };
  app.use(onError);
  return { app, errors, middleware };
}
