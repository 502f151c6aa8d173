import { type Backend, MemoryBackend } from '../engine/backend.js';
import { toHost } from './allowed-hosts.js';
import { RedisBackend } from './redis-backend.js';
import { serve } from './serve.js';

const { PORT = '3000', HOST = '', REDIS_URL = '' } = process.env;

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port <= 65_535) return port;
  throw new RangeError(`Expected \`PORT\` to be a number from 0 to 65535, got ${JSON.stringify(text)} (string)`);
}

function createGreeting(url: string, port: number, backend: Backend): string {
  const shared = `PORT=${port + 1} REDIS_URL=${REDIS_URL === '' ? 'redis://localhost' : '…'} npm run demo`;
  return `
Rollgate's playground, on ${url}, ${backend.name}. Open it in a browser, or in two windows.

  the button "Boundary attack"       sends twice the limit around the boundary of a fixed window
  curl -i -X POST ${url}/hit
                                     sends a request from the terminal, which the page shows too
  ${shared}
                                     ${REDIS_URL === '' ? 'starts one on your Redis' : 'starts a second playground, which shows the same window'}

Press Ctrl-C to stop.`;
}

async function main(): Promise<void> {
  const port = toPort(PORT);
  const host = HOST === '' ? undefined : toHost(HOST);
  const backend = REDIS_URL === '' ? new MemoryBackend() : new RedisBackend(REDIS_URL);
  const { port: listening, close } = await serve(port, host, backend).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is in use. Choose another one, as in PORT=${port + 1} npm run demo`, {
      cause: error,
    });
  });
  console.log(createGreeting(`http://127.0.0.1:${listening}`, listening, backend));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
