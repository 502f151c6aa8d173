import { fileURLToPath } from 'node:url';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { toSettings } from '../engine/limits.js';
import type { Playground } from '../engine/playground.js';
import type { Traffic } from '../engine/traffic.js';
import { isScenario, SCENARIOS } from '../shared/settings.js';
import { allowHosts } from './allowed-hosts.js';
import type { EventStream } from './event-stream.js';

const PAGE = fileURLToPath(new URL('../page', import.meta.url));

/** The browser ensures that the page connects only to this server. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** What the routes call. */
export interface AppServices {
  readonly playground: Playground;
  readonly traffic: Traffic;
  readonly stream: EventStream;
  /** Limits `POST /hit`. */
  readonly middleware: RequestHandler;
}

/** The server's routes. See {@link allowHosts} for `host`. */
export function createApp(services: AppServices, host: string | undefined): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  app.use(allowHosts(host));
  app.post('/hit', services.middleware, (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ allowed: true });
  });
  addTrafficRoutes(app, services);
  addStateRoutes(app, services);
  app.use(express.static(PAGE, { cacheControl: false }));
  app.use((_request, response) => sendProblem(response, 404, 'Not found. The page is at /'));
  app.use(handleError);
  return app;
}

/** The routes by which a page lets the server send requests. */
function addTrafficRoutes(app: Express, { traffic }: AppServices): void {
  app.post('/send', (_request, response) => {
    traffic.sendSingles(1);
    response.status(202).end();
  });
  app.post('/run/:scenario', async (request, response) => {
    const { scenario } = request.params;
    if (!isScenario(scenario)) {
      sendProblem(response, 404, `Expected a scenario (${Object.keys(SCENARIOS).join(', ')}), got "${scenario}"`);
      return;
    }
    await traffic.start(scenario, isAuto(request));
    response.status(202).end();
  });
  app.post('/stop', (_request, response) => {
    traffic.stop();
    response.status(204).end();
  });
  app.post('/reset', async (_request, response) => {
    await traffic.clear();
    response.status(204).end();
  });
}

function addStateRoutes(app: Express, { playground, traffic, stream }: AppServices): void {
  app.head('/events', (_request, response) => {
    response.type('text/event-stream').end();
  });
  app.get('/events', (_request, response) => stream.add(response));
  app.get('/records', (_request, response) => {
    response.set('Cache-Control', 'no-store').json(playground.log.records);
  });
  app.put('/settings', express.json({ limit: '1kb' }), async (request, response) => {
    const settings = parseSettings(request.body, response);
    if (settings === undefined) return;
    if (!isAuto(request)) traffic.endAutoplay();
    await playground.change(settings);
    response.json(settings);
  });
}

/** Whether the page sent the request by itself, without a user. */
const isAuto = ({ query }: Request): boolean => 'auto' in query;

function parseSettings(body: unknown, response: Response) {
  try {
    return toSettings(body);
  } catch (error) {
    sendProblem(response, 400, (error as Error).message);
    return undefined;
  }
}

const handleError: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, next) => {
  if (response.headersSent) return next(error);
  if (error.status !== undefined) return sendProblem(response, error.status, String(error.message ?? error));
  console.error(error); // For the operator. Visitors get a text without details.
  sendProblem(response, 500, 'The server failed. Its terminal shows the error.');
};

/** Responds with problem details (RFC 9457). */
function sendProblem(response: Response, status: number, detail: string): void {
  response.status(status).type('application/problem+json').send(JSON.stringify({ status, detail }));
}
