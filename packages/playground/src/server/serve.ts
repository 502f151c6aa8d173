import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.js';
import type { Backend } from './backend.js';
import { Playground } from './playground.js';
import { UpdateStream } from './update-stream.js';

/** A playground that accepts connections. */
export interface Served {
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
export async function serve(port: number, host: string | undefined, backend: Backend): Promise<Served> {
  const playground = new Playground(backend);
  await playground.open();
  const updates = new UpdateStream(playground);
  const server = createApp(playground, updates, host).listen(port, '127.0.0.1');
  const close = () => {
    updates.close();
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
  return { port: (server.address() as AddressInfo).port, close };
}
