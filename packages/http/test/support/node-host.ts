import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import type { Decision } from '@rollgate/core';
import { memory } from '@rollgate/host-tests/test-stores';
import { type Adapter, type Framework, HttpLimiter, sendRejection, WARNING_CODES } from '@rollgate/http';

export type Request = IncomingMessage & { rateLimit?: Decision };
export type Response = ServerResponse;
export type NodeLimiter = HttpLimiter<Request, Response>;

const NODE: Framework<Request, Response> = {
  name: 'rateLimit',
  ownOptions: [],
  resetUnit: 'epoch',
  getClientAddress: (request) => request.socket.remoteAddress,
  getRequestHeader: (request, name) => request.headers[name],
  isDisconnected: (request) => request.socket.destroyed,
  getNodeResponse: (response) => response,
};

const ADAPTER: Adapter<Request, Response> = {
  attachDecision(request, decision) {
    request.rateLimit = decision;
  },
  sendRejection(request, response, next, _decision, rejection) {
    sendRejection(response, request.headers.accept, rejection, next);
  },
};

/** Creates a limiter of Node's requests that emits no warning. Without a `store`, it has one with the test's clock. */
export const limitWith = (options: object, adapter: Partial<Adapter<Request, Response>> = {}): NodeLimiter =>
  new HttpLimiter(NODE, { store: memory(), silence: WARNING_CODES, ...options } as never, { ...ADAPTER, ...adapter });

/** The parts of a server around its limiters. */
export interface ServerParts {
  /** Runs for each request before the limiters do. */
  before?: (request: Request, response: Response) => void;
  handler?: (request: Request, response: Response) => unknown;
  isHttp2?: boolean;
}

const servers: (Server | Http2Server)[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** Starts a server behind the limiters, which records all requests, the allowed ones, and the errors. */
export async function serve(limiters: NodeLimiter[], parts: ServerParts = {}) {
  const { before, handler = (_request, response) => response.end('hello'), isHttp2 = false } = parts;
  const arrivals: { request: Request; response: Response; atMs: number }[] = [];
  const passed: { request: Request; atMs: number }[] = [];
  const errors: Error[] = [];
  const listener = (request: Request, response: Response): void => {
    arrivals.push({ request, response, atMs: performance.now() });
    before?.(request, response);
    const fail = (error: Error) => {
      errors.push(error);
      response.statusCode = 500;
      response.end(String(error));
    };
    const proceed = (index: number): unknown => {
      const limiter = limiters[index];
      if (limiter !== undefined) {
        return limiter.run(request, response, (error) => (error === undefined ? proceed(index + 1) : fail(error)));
      }
      passed.push({ request, atMs: performance.now() });
      return handler(request, response);
    };
    proceed(0);
  };
  const server = isHttp2 ? createHttp2Server(listener as never) : createServer(listener);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const send = (path = '/', init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
  return {
    port,
    server,
    arrivals,
    passed,
    errors,
    send,
    /** Sends requests one after the other, and returns their statuses. */
    async statuses(...paths: string[]): Promise<number[]> {
      const all: number[] = [];
      for (const path of paths) {
        const reply = await send(path);
        await reply.arrayBuffer();
        all.push(reply.status);
      }
      return all;
    },
    open: () => connect(port, '127.0.0.1').on('error', () => {}),
    /** The paths of the allowed requests. */
    passedPaths: () => passed.map(({ request }) => request.url),
  };
}

/** A request as its client sends it. */
export const raw = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${fields}\r\n`;
