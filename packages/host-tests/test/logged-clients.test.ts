import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { rateLimit } from '@rollgate/express';
import rollgate from '@rollgate/fastify';
import * as web from '@rollgate/web';
import fastify, { type FastifyInstance } from 'fastify';
import { EXPRESSES, serve } from '../src/express-servers';

const COMMAND = join(__dirname, '../../cli/dist/main.js');

/** Lists that reach a server on the machine of its proxy, whose address is 127.0.0.1. */
const LISTS = [
  '198.51.100.7',
  '198.51.100.7, 203.0.113.9',
  '10.0.0.1, 198.51.100.7, 203.0.113.9',
  '198.51.100.7,10.0.0.5',
  ' 198.51.100.7 ,  10.0.0.5 , 192.168.1.1',
  '10.0.0.5, 192.168.1.1',
  '198.51.100.7, 10.0.0.5, 203.0.113.9, fd00::1',
  'forged, 198.51.100.7, 172.16.0.1',
  '2001:db8:0:12ff::1, 10.0.0.5',
  '2001:DB8::1, ::ffff:203.0.113.9',
  '::ffff:198.51.100.7, ::ffff:10.0.0.1',
  '198.51.100.8:4711, 10.0.0.5',
  '[2001:db8:0:34ff::1]:4711',
];
const NETWORKS = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

/** How a server finds its clients behind trusted proxies, by their number or their networks. */
interface Server {
  readonly trusted: number | readonly string[];
  /** Returns a function that sends a list to the server. Its limit calls `onLimited` with the key of a rejected request. */
  start(onLimited: (key: string) => void): Promise<(list: string) => Promise<unknown>>;
}

const limitOf = (onLimited: (key: string) => void, options = {}) => ({
  limit: 1,
  window: '1h' as const,
  onLimited: (_request: unknown, _decision: unknown, key: unknown) => onLimited(String(key)),
  ...options,
});

function expressOf(express: (typeof EXPRESSES)[number][1], trusted: number | readonly string[]): Server {
  const configure = (app: { set(name: string, value: unknown): unknown }) => void app.set('trust proxy', trusted);
  return {
    trusted,
    async start(onLimited) {
      const { send } = await serve(express, [rateLimit(limitOf(onLimited))], { configure });
      return async (list) => (await send('/', { headers: { 'X-Forwarded-For': list } })).arrayBuffer();
    },
  };
}

const apps: FastifyInstance[] = [];
afterAll(() => Promise.all(apps.map((app) => app.close())));

const fastifyOf = (trusted: number | readonly string[], trustProxy: unknown = trusted): Server => ({
  trusted,
  async start(onLimited) {
    const app = fastify({ trustProxy: trustProxy as string[] });
    await app.register(rollgate, limitOf(onLimited));
    app.get('/', () => 'hello');
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    apps.push(app);
    return async (list) => (await fetch(url, { headers: { 'X-Forwarded-For': list } })).arrayBuffer();
  },
});

const webOf = (trustedProxies: number): Server => ({
  trusted: trustedProxies,
  async start(onLimited) {
    const address = web.forwardedAddress({ trustedProxies });
    const handler = web.rateLimit(limitOf(onLimited, { address }))(() => new Response('hello'));
    return async (list) => handler(new Request('http://localhost/', { headers: { 'X-Forwarded-For': list } }));
  },
});

const SERVERS: Record<string, Server> = {
  'express 5, 1 hop': expressOf(EXPRESSES[0][1], 1),
  'express 5, 2 hops': expressOf(EXPRESSES[0][1], 2),
  'express 5, networks': expressOf(EXPRESSES[0][1], NETWORKS),
  'express 4, networks': expressOf(EXPRESSES[1][1], NETWORKS),
  'fastify, 2 hops': fastifyOf(2, (_address: string, hop: number) => hop < 2),
  'fastify, networks': fastifyOf(NETWORKS),
  'forwardedAddress, 1 proxy': webOf(1),
};

/** Counts are powers of two, so that no two sets of lists have the same sum. */
const countOf = (index: number) => 2 ** (index + 1);

const logged = new Map<string, Record<string, number>>();

/** How often the command finds each client in a log of the same requests. It reads the log once for all servers with the same proxies. */
function loggedClients(trusted: number | readonly string[]): Record<string, number> {
  const found = logged.get(String(trusted)) ?? readClients(trusted);
  logged.set(String(trusted), found);
  return found;
}

function readClients(trusted: number | readonly string[]): Record<string, number> {
  const by = ['--by', 'forwarded', '--trusted-proxies', String(trusted), '--limit', '1/1h', '--top', '100', '--json'];
  const toLine = (list: string) =>
    `127.0.0.1 - - [01/Nov/2025:00:00:00 +0000] "GET /p HTTP/1.1" 200 5 "-" "curl/8.0" "${list}"\n`;
  const input = LISTS.map((list, index) => toLine(list).repeat(countOf(index))).join('');
  const report = JSON.parse(
    execFileSync(process.execPath, [COMMAND, 'simulate', ...by], { input, encoding: 'utf8', stdio: 'pipe' }),
  );
  return Object.fromEntries(report.worstHit.map((hit: { key: string; requests: number }) => [hit.key, hit.requests]));
}

test.each(Object.entries(SERVERS))('the log reader finds the clients of %s', async (_name, { trusted, start }) => {
  const clients: Record<string, number> = {};
  let client = '';
  const send = await start((key) => {
    client = key;
  });
  for (const [index, list] of LISTS.entries()) {
    await send(list);
    // The second request of a client, if not the first one, is rejected.
    await send(list);
    clients[client] = (clients[client] ?? 0) + countOf(index);
  }
  expect(loggedClients(trusted)).toEqual(clients);
});
