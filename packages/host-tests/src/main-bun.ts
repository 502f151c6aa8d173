// Serves the hosts of Bun, and prints their ports as JSON.
import { bunAddress as honoAddress } from '@rollgate/hono';
import { bunAddress } from '@rollgate/web';
import { createHono } from './hosts/hono-app.js';
import { createWeb } from './hosts/web-app.js';

interface Bun {
  serve(options: { port: number; hostname: string; fetch: unknown }): { port: number };
}
const { Bun } = globalThis as unknown as { Bun: Bun };

const serve = (fetch: unknown) => Bun.serve({ port: 0, hostname: '127.0.0.1', fetch }).port;
console.log(
  JSON.stringify({ 'Fetch on Bun': serve(createWeb(bunAddress)), 'Hono on Bun': serve(createHono(honoAddress).fetch) }),
);
