import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from '@rollgate/express';
import { WARNING_CODES } from '@rollgate/http';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import express5, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import express4 from 'express4';
import { memory } from './test-stores.js';

export { clock, memory, storeWith, until } from './test-stores.js';

/** For `describe.each`. */
export const EXPRESSES = [
  ['5', express5],
  ['4', express4],
] as const;
export type ExpressVersion = typeof express5;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

silenceOutages();

/** Starts a real server on a free port of the loopback interface. */
export async function listen(app: Express): Promise<Server> {
  const server = createServer(app);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** Creates a middleware that emits no warning. Without a `store`, it has one with the test's clock. */
export const limitWith = (options: object): RateLimitMiddleware =>
  rateLimit({ store: memory(), silence: WARNING_CODES, ...options } as unknown as RateLimitOptions);

/** The parts of an app around its limits: the middlewares before them, the handler after them, and the settings of the app. */
export interface AppParts {
  before?: RequestHandler[];
  handler?: RequestHandler;
  configure?: (app: Express) => void;
  /** Collects errors before Express's own error handling responds. */
  expressErrors?: Error[];
}

/** Starts a real server behind the limits, which records the allowed requests and the errors. */
export async function serve(express: ExpressVersion, limits: RequestHandler[], parts: AppParts = {}) {
  const { app, passed, errors } = createApp(express, limits, parts);
  const { port } = (await listen(app)).address() as AddressInfo;
  return { port, passed, errors, ...createClient(port) };
}

function createApp(express: ExpressVersion, limits: RequestHandler[], parts: AppParts) {
  const {
    before = [],
    handler = (_request, response) => void response.send('hello'),
    configure,
    expressErrors,
  } = parts;
  const passed: Request[] = [];
  const errors: Error[] = [];
  const app = express();
  app.set('env', 'test'); // Express's own error handling then logs nothing.
  configure?.(app);
  for (const middleware of [...before, ...limits]) app.use(middleware);
  app.use((request, response, next) => {
    passed.push(request);
    return handler(request, response, next);
  });
  const onError: ErrorRequestHandler = (error, _request, response, next) => {
    (expressErrors ?? errors).push(error);
    if (expressErrors !== undefined || response.headersSent) next(error);
    else response.status(500).json({ error: String(error) });
  };
  app.use(onError);
  return { app, passed, errors };
}

/** The ways in which tests send requests to a server. */
function createClient(port: number) {
  const send = (path = '/', init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
  return {
    send,
    /** Sends this number of requests, one after the other, and returns their statuses. */
    async statuses(count: number, path = '/', headers: Record<string, string> = {}): Promise<number[]> {
      const all: number[] = [];
      for (let turn = 0; turn < count; turn++) {
        const reply = await send(path, { headers });
        await reply.arrayBuffer();
        all.push(reply.status);
      }
      return all;
    },
    open: () => connect(port, '127.0.0.1').on('error', () => {}),
    /** The responses to many requests, which one connection sends at once: a tenth of the work of `fetch`. */
    pipeline(paths: string[]): Promise<string> {
      const requests = paths.map((path, index) => {
        const end = index === paths.length - 1 ? 'Connection: close\r\n' : '';
        return `GET ${path} HTTP/1.1\r\nHost: x\r\n${end}\r\n`;
      });
      const socket = connect(port, '127.0.0.1');
      socket.write(requests.join(''));
      return text(socket);
    },
  };
}
