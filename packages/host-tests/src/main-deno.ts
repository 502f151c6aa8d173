// Serves the hosts of Deno, and prints their ports as JSON.
import { denoAddress as honoAddress } from '@rollgate/hono';
import { denoAddress } from '@rollgate/web';
import { createHono } from './hosts/hono-app.js';
import { createWeb } from './hosts/web-app.js';

interface Deno {
  serve(
    options: { port: number; hostname: string; onListen: () => void },
    handler: unknown,
  ): { addr: { port: number } };
}
const { Deno } = globalThis as unknown as { Deno: Deno };

const serve = (handler: unknown) =>
  Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, handler).addr.port;
console.log(
  JSON.stringify({
    'Fetch on Deno': serve(createWeb(denoAddress)),
    'Hono on Deno': serve(createHono(honoAddress).fetch),
  }),
);
