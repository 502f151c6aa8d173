import { fileURLToPath } from 'node:url';
import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import { allowHosts } from './allowed-hosts.js';
import type { Playground } from './playground.js';
import { toSettings } from './settings.js';
import type { UpdateStream } from './update-stream.js';

const PAGE = fileURLToPath(new URL('../page', import.meta.url));

/** The browser ensures that the page connects only to this server. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The server's routes. See {@link allowHosts} for `host`. */
export function createApp(playground: Playground, updates: UpdateStream, host: string | undefined): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  app.use(allowHosts(host));

  app.post('/hit', playground.middleware, (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ allowed: true });
  });
  app.head('/events', (_request, response) => {
    response.type('text/event-stream').end();
  });
  app.get('/events', (_request, response) => updates.add(response));
  app.get('/records', (_request, response) => {
    response.set('Cache-Control', 'no-store').json(playground.book.records);
  });
  app.put('/settings', express.json({ limit: '1kb' }), async (request, response) => {
    const settings = settingsOf(request.body, response);
    if (settings === undefined) return;
    await playground.change(settings);
    response.json(settings);
  });
  app.post('/reset', async (_request, response) => {
    await playground.clear();
    response.status(204).end();
  });

  app.use(express.static(PAGE, { cacheControl: false }));
  app.use((_request, response) => problem(response, 404, 'Not found. The page is at /'));
  app.use(handleError);
  return app;
}

function settingsOf(body: unknown, response: Response) {
  try {
    return toSettings(body);
  } catch (error) {
    problem(response, 400, (error as Error).message);
    return undefined;
  }
}

const handleError: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, next) => {
  if (response.headersSent) next(error);
  else problem(response, error.status ?? 500, String(error.message ?? error));
};

/** Responds with problem details (RFC 9457). */
function problem(response: Response, status: number, detail: string): void {
  response.status(status).type('application/problem+json').send(JSON.stringify({ status, detail }));
}
