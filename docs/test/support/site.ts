import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

/** By old address, the new one. */
export const REDIRECTS: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(__dirname, '../../.vitepress/redirects.json'), 'utf8'),
);

const DIST = join(__dirname, '../../.vitepress/dist');
/** The path below which the site is served. */
export const BASE = '/rollgate/';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** The addresses of all pages, without the base: `` for the home page, `options`, `api/`. */
export const PAGES = filesIn('')
  .filter((file) => file.endsWith('.html') && file !== '404.html' && !file.startsWith('play/'))
  .map((file) => file.slice(0, -'.html'.length).replace(/(^|\/)index$/, '$1'))
  .filter((page) => !Object.hasOwn(REDIRECTS, page))
  .sort();

/** The text of a file of the built site. */
export function readBuilt(file: string): string {
  return readFileSync(join(DIST, file), 'utf8');
}

/** The file behind an address of the site, or `undefined`. */
export function fileOf(address: string): string | undefined {
  const path = decodeURI(address.slice(BASE.length));
  return [path, `${path}.html`, `${path}index.html`].find((file) => isFile(file));
}

/** Serves the built site as the host of the published one does. `send` sends the pages. */
export async function serveSite(send = sendAtOnce): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const file = pathname.startsWith(BASE) ? fileOf(pathname) : undefined;
    if (file === undefined) response.writeHead(404, { 'Content-Type': TYPES['.html']! }).end(read('404.html'));
    else if (extname(file) === '.html') send(response.writeHead(200, { 'Content-Type': TYPES['.html']! }), read(file));
    else response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'text/plain' }).end(read(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`, server };
}

function sendAtOnce(response: ServerResponse, page: Buffer): void {
  response.end(page);
}

function read(file: string): Buffer {
  return readFileSync(join(DIST, file));
}

function isFile(file: string): boolean {
  return existsSync(join(DIST, file)) && statSync(join(DIST, file)).isFile();
}

function filesIn(folder: string): string[] {
  return readdirSync(join(DIST, folder), { recursive: true, encoding: 'utf8' });
}
