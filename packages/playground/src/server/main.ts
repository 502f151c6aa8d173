import { type Backing, MemoryBacking } from './backing.js';
import { toHost } from './own-names.js';
import { RedisBacking } from './redis-backing.js';
import { serve } from './serve.js';

const { PORT = '3000', HOST = '', REDIS_URL = '' } = process.env;

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port <= 65_535) return port;
  throw new RangeError(`Expected \`PORT\` to be a number from 0 to 65535, got ${JSON.stringify(text)} (string)`);
}

function greeting(url: string, port: number, backing: Backing): string {
  const shared = `PORT=${port + 1} REDIS_URL=${REDIS_URL === '' ? 'redis://localhost' : '…'} npm run demo`;
  return `
Rollgate's playground, on ${url}, ${backing.name}: open it in a browser, in two windows if you like.

  the button "Boundary attack"       twice the limit at the boundary of a fixed window, and what Rollgate does about it
  curl -i -X POST ${url}/hit
                                     a request from here, which the page shows like its own
  ${shared}
                                     ${REDIS_URL === '' ? 'the same on a Redis of yours' : 'a second one, which shows the same window'}

Ctrl-C ends it.`;
}

async function main(): Promise<void> {
  const port = toPort(PORT);
  const host = HOST === '' ? undefined : toHost(HOST);
  const backing = REDIS_URL === '' ? new MemoryBacking() : new RedisBacking(REDIS_URL);
  const { port: listening, close } = await serve(port, host, backing).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is taken: choose another one, as in PORT=${port + 1} npm run demo`, { cause: error });
  });
  console.log(greeting(`http://127.0.0.1:${listening}`, listening, backing));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
