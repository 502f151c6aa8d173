import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Backend } from '../engine/backend.js';
import { Playground } from '../engine/playground.js';
import { Traffic } from '../engine/traffic.js';
import { UpdateFeed } from '../engine/update-feed.js';
import { createApp } from './app.js';
import { EventStream } from './event-stream.js';
import { createHttpSend } from './http-send.js';
import { LimitedRequests } from './limited-requests.js';

/** A playground that accepts connections. */
export interface PlaygroundServer {
  readonly port: number;
  /** Closes the server and all connections. */
  close(): void;
}

/**
 * Serves a playground on 127.0.0.1.
 *
 * @param port The port, or 0 for a free one.
 * @param host An additional name of the server for browsers.
 * @throws Error if the port is in use, or if the backend cannot be read.
 */
export async function serve(port: number, host: string | undefined, backend: Backend): Promise<PlaygroundServer> {
  const playground = new Playground(backend);
  await playground.open();
  let listeningPort = port;
  const send = createHttpSend(() => `http://127.0.0.1:${listeningPort}/hit`);
  const traffic = new Traffic(playground, send);
  const limited = new LimitedRequests(playground, backend.store, () => traffic.endAutoplay());
  const stream = new EventStream(new UpdateFeed(playground, traffic));
  const app = createApp({ playground, traffic, stream, middleware: limited.middleware }, host);
  const server = app.listen(port, '127.0.0.1');
  const close = () => {
    traffic.stop();
    stream.close();
    limited.close();
    server.close();
    server.closeAllConnections();
    void playground.close();
  };
  try {
    await once(server, 'listening');
  } catch (error) {
    close();
    throw error;
  }
  listeningPort = (server.address() as AddressInfo).port;
  return { port: listeningPort, close };
}
