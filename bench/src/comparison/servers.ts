import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import express, { type RequestHandler } from 'express';

/** Starts a server on a free port of loopback. */
export async function listen(server: Server): Promise<Server> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** Starts an Express app with a middleware in front of its only route. */
export function serveExpress(middleware: RequestHandler): Promise<Server> {
  const app = express().set('trust proxy', 'loopback');
  app.use(middleware);
  app.get('/', (_request, response) => response.end('hello'));
  return listen(createServer(app as RequestListener));
}
