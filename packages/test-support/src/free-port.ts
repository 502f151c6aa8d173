import { once } from 'node:events';
import { createServer } from 'node:net';

export const HOST = '127.0.0.1';

/** A server whose port no program of these tests listens on. A port that was free a moment ago may belong to another test by now. */
export const NO_SERVER = `http://${HOST}:2`;

// Below the range of outgoing connections. So no outgoing connection takes the port of a server that restarts, or connects to
// itself. A cluster's bus uses a separate range, 10,000 above.
const FIRST = 10_000;
const COUNT = 10_000;

/** Returns a port of 127.0.0.1 that is free at the moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
