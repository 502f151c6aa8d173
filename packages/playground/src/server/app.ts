import { fileURLToPath } from 'node:url';
import type { Limit, Store } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';
import express, { type ErrorRequestHandler, type Express, type Request } from 'express';
import { DEFAULT_SETTINGS, toLimit, toSettings } from '../race.js';
import { allowHosts } from './allowed-hosts.js';

const PAGE = fileURLToPath(new URL('../page', import.meta.url));

/** The browser ensures that the page connects only to this server. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The server's routes. `/hit` is limited by the real middleware, by the settings in the query. See {@link allowHosts}. */
export function createApp(store: Store, host: string | undefined): Express {
  const middleware = rateLimit({
    limits: limitOf,
    key: ({ query }, clientKey) => (typeof query['client'] === 'string' ? query['client'].slice(0, 64) : clientKey()),
    store,
    prefix: 'rollgate-playground',
    headers: 'all',
  });
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  app.use(allowHosts(host));
  app.post('/hit', middleware, (request, response) => {
    const isDegraded = (request.rateLimit?.degraded ?? false) !== false;
    response.set('Cache-Control', 'no-store').json({ allowed: true, ...(isDegraded ? { store: 'memory' } : {}) });
  });
  app.use(express.static(PAGE, { cacheControl: false }));
  app.use((_request, _response, next) =>
    next(Object.assign(new Error('Not found. The page is at /'), { status: 404 })),
  );
  app.use(handleError);
  return app;
}

/** @throws RangeError with the status 400 if the settings in the query are invalid. */
function limitOf({ query }: Request): Limit {
  const { algorithm, limit, windowMs, minDifferenceMs } = { ...DEFAULT_SETTINGS, ...query };
  try {
    return toLimit(
      toSettings({
        ...{ algorithm, limit: Number(limit), windowMs: Number(windowMs), minDifferenceMs: Number(minDifferenceMs) },
      }),
    );
  } catch (error) {
    throw Object.assign(error as Error, { status: 400 });
  }
}

/** Responds with problem details (RFC 9457). */
const handleError: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, next) => {
  if (response.headersSent) return next(error);
  const { status = 500 } = error;
  if (status === 500) console.error(error); // For the operator. Visitors get a text without details.
  const detail = status === 500 ? 'The server failed. Its terminal shows the error.' : String(error.message);
  response.status(status).type('application/problem+json').send(JSON.stringify({ status, detail }));
};
