import { once } from 'node:events';
import { createServer } from 'node:net';

export const HOST = '127.0.0.1';

// Below the ports that the system gives to outgoing connections: none of them takes the port of a server that is down
// for a moment, nor meets itself when it tries to reach one. A cluster's bus is 10,000 above, in a range of its own.
const FIRST = 10_000;
const COUNT = 10_000;

/** A port of 127.0.0.1 that is free at this moment. */
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
