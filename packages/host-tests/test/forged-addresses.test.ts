import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAdaptorServer } from '@hono/node-server';
import * as hono from '@rollgate/hono';
import * as node from '@rollgate/node';
import * as web from '@rollgate/web';
import { Hono } from 'hono';

const CLIENT = '198.51.100.7';
const FORGED = '203.0.113.9';
/** This test's server sees the client through one proxy. */
const oneProxy = { trustedProxies: 1 };
const NAME = 'X-Forwarded-For';

type Line = readonly [name: string, value: string];

/** Servers that respond with the address of the client. */
const SERVERS: Record<string, () => Server> = {
  node: () => {
    const toAddress = node.forwardedAddress(oneProxy);
    return createServer((request, response) => response.end(toAddress(request) ?? 'unknown'));
  },
  'Hono on Node': () => {
    const toAddress = hono.forwardedAddress(oneProxy);
    const app = new Hono();
    app.get('/', (c) => c.text(toAddress(c) ?? 'unknown'));
    return createAdaptorServer({ fetch: app.fetch }) as Server;
  },
  'a handler on Node': () => {
    const toAddress = web.forwardedAddress(oneProxy);
    const fetch = (request: Request) => new Response(toAddress(request) ?? 'unknown');
    return createAdaptorServer({ fetch }) as Server;
  },
};

let ports: Record<string, number>;
const servers: Server[] = [];
beforeAll(async () => {
  const opened = Object.entries(SERVERS).map(async ([name, create]) => {
    const server = create();
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return [name, (server.address() as AddressInfo).port] as const;
  });
  ports = Object.fromEntries(await Promise.all(opened));
});
afterAll(() => {
  for (const server of servers) server.close();
});

/** Sends these header lines as they are, which no HTTP client would. */
async function addressSeenBy(server: string, lines: readonly Line[]): Promise<string> {
  const socket = connect(ports[server]!, '127.0.0.1');
  const headers = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`GET / HTTP/1.0\r\nHost: localhost\r\n${headers}\r\n`, 'latin1');
  const response = await text(socket);
  return response.slice(response.indexOf('\r\n\r\n') + 4);
}

/** What a client may send. The proxy then appends the client's address, to the last line or in a new one. */
const FORGERIES: [what: string, ...lines: Line[]][] = [
  ['an address', [NAME, FORGED]],
  ['spaces and tabs', [NAME, ` \t ${FORGED} \t `]],
  ['a port', [NAME, `${FORGED}:443`]],
  ['IPv6 in brackets', [NAME, '[2001:db8::1]:443']],
  ['IPv4 mapped to IPv6', [NAME, `::ffff:${FORGED}`]],
  ['empty entries', [NAME, `,, ,${FORGED}, ,,`]],
  ['only commas', [NAME, ',,,']],
  ['an empty header', [NAME, '']],
  ['quotes', [NAME, `"${FORGED}, `]],
  ['text that is not an address', [NAME, 'unknown, _hidden, \xa0']],
  ['10 kB of entries', [NAME, `${FORGED}, `.repeat(800)]],
  ['10 kB of commas', [NAME, ','.repeat(10_000)]],
  ['an entry of 10 kB', [NAME, '9'.repeat(10_000)]],
  ['several lines', [NAME, FORGED], [NAME, `${FORGED}, ${FORGED}`], [NAME, FORGED]],
  ['a name in other case', ['x-FORWARDED-for', FORGED], ['X-FORWARDED-FOR', FORGED]],
  ['similar names', ['X_Forwarded_For', FORGED], ['X-Forwarded-For-Real', FORGED], ['Forwarded', `for=${FORGED}`]],
];

describe.each(Object.keys(SERVERS))('forwardedAddress on %s', (server) => {
  test.each(FORGERIES)('ignores what the client sends: %s', async (_, ...lines) => {
    const appended: Line = [NAME, CLIENT];
    expect(await addressSeenBy(server, [...lines, appended])).toBe(CLIENT);
    const [name, value] = lines.at(-1)!;
    if (name.toLowerCase() !== NAME.toLowerCase()) return;
    expect(await addressSeenBy(server, [...lines.slice(0, -1), [name, `${value}, ${CLIENT}`]])).toBe(CLIENT);
  });

  test('returns no address if the proxy appended none', async () => {
    for (const value of ['', ' ', ',', `${FORGED},`, `${FORGED}, \t`]) {
      expect(await addressSeenBy(server, [[NAME, value]])).toBe('unknown');
    }
  });
});

test.each([
  ['IPv4', [CLIENT, `${CLIENT}:50000`, `::ffff:${CLIENT}`, `[::ffff:${CLIENT}]:50001`, '::FFFF:C633:6407']],
  ['IPv6', ['2001:db8::1', '[2001:db8::1]:443', '[2001:DB8:0:0::2]', '2001:0db8:0000:0000:0000:0000:0000:0003']],
])('the forms in which proxies write an address count as one client: %s', async (_, forms) => {
  const limit = web.rateLimit({ limit: forms.length, window: '1h', address: web.forwardedAddress(oneProxy) });
  const check = (form: string) => limit.check(new Request('http://localhost/', { headers: { [NAME]: form } }));
  for (const form of forms) expect((await check(form)).allowed).toBe(true);
  for (const form of forms) expect((await check(form)).allowed).toBe(false);
});
