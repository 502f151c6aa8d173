import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { toHost } from './allowed-hosts.js';
import { createApp } from './app.js';
import { connectRedis, createMemory } from './store.js';

const { PORT = '3000', HOST = '', REDIS_URL = '' } = process.env;

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port <= 65_535) return port;
  throw new RangeError(`Expected \`PORT\` to be a number from 0 to 65535, got ${JSON.stringify(text)} (string)`);
}

const greeting = (url: string, name: string) => `
Rollgate is a rate limiter for Node, Bun, Deno and Workers. 10 per minute means 10, and not 19.

Its playground is on ${url}, ${name}.

  Open it in a browser, and try to get 11 requests through a limit of 10.
  curl -i -X POST ${url}/hit
                                     shows the response of the middleware
  ${REDIS_URL === '' ? 'REDIS_URL=redis://localhost npm run demo\n                                     decides on your Redis' : 'PORT=… REDIS_URL=… npm run demo\n                                     starts a second server, which shares the quota of curl'}

Documentation: https://rollgate-js.github.io/rollgate. Press Ctrl-C to stop.`;

async function main(): Promise<void> {
  const port = toPort(PORT);
  const host = HOST === '' ? undefined : toHost(HOST);
  const { name, store, close } = REDIS_URL === '' ? createMemory() : await connectRedis(REDIS_URL);
  const server = createApp(store, host).listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    close();
    if (error.code !== 'EADDRINUSE') throw error;
    const other = `Choose another one, as in PORT=${port + 1} npm run demo`;
    throw new Error(`Port ${port} is in use. ${other}`, { cause: error });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
      close();
    });
  }
  console.log(greeting(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, name));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
