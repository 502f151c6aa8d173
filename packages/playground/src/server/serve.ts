import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.js';
import type { Backend } from './backend.js';
import { Events } from './events.js';
import { Playground } from './playground.js';

/** A playground that listens. */
export interface Served {
  readonly port: number;
  /** Ends it, with all connections. */
  close(): void;
}

/**
 * Serves a playground on 127.0.0.1.
 *
 * @param port 0 for one that is free.
 * @param host One more name by which browsers reach it.
 * @throws Error when the port is taken, or when what is shared with other servers cannot be read.
 */
export async function serve(port: number, host: string | undefined, backend: Backend): Promise<Served> {
  const playground = new Playground(backend);
  await playground.open();
  const events = new Events(playground);
  const server = createApp(playground, events, host).listen(port, '127.0.0.1');
  const close = () => {
    events.close();
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
