import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAdaptorServer } from '@hono/node-server';
import * as express from '@rollgate/express';
import * as fastify from '@rollgate/fastify';
import * as hono from '@rollgate/hono';
import * as koa from '@rollgate/koa';
import * as node from '@rollgate/node';
import * as web from '@rollgate/web';
import createExpress from 'express';
import Fastify from 'fastify';
import { type Context, Hono } from 'hono';
import Koa from 'koa';
import * as nestjs from '../../nestjs/src/addresses.js';

const CLIENT = '198.51.100.7';

const FORGED = '203.0.113.9';

describe('addresses of platforms', () => {
  interface Platform {
    readonly inHono: (c: Context) => string | undefined;
    /** Node's servers have their own adapters. */
    readonly inHandlers?: (request: Request, info: never) => string | undefined;
    /** What the platform passes for a connection from CLIENT. */
    readonly info: object;
    /** The headers that the platform's proxies set. */
    readonly headers: Record<string, string>;
  }

  const PLATFORMS: Record<string, Platform> = {
    nodeAddress: {
      inHono: hono.nodeAddress,
      info: { incoming: { socket: { remoteAddress: CLIENT } } },
      headers: {},
    },
    bunAddress: {
      inHono: hono.bunAddress,
      inHandlers: web.bunAddress,
      info: { requestIP: () => ({ address: CLIENT }) },
      headers: {},
    },
    denoAddress: {
      inHono: hono.denoAddress,
      inHandlers: web.denoAddress,
      info: { remoteAddr: { hostname: CLIENT, port: 50_000, transport: 'tcp' } },
      headers: {},
    },
    cloudflareAddress: {
      inHono: hono.cloudflareAddress,
      inHandlers: web.cloudflareAddress,
      info: {},
      headers: { 'CF-Connecting-IP': CLIENT },
    },
    vercelAddress: {
      inHono: hono.vercelAddress,
      inHandlers: web.vercelAddress,
      info: {},
      headers: { 'X-Real-IP': CLIENT },
    },
  };

  const createRequest = (headers: Record<string, string>) => new Request('http://localhost/', { headers });

  /** Returns the address that a function of Hono finds, in a real app. */
  async function addressInHono(
    address: (c: Context) => string | undefined,
    headers: Record<string, string>,
    info: object | undefined,
  ): Promise<string> {
    const app = new Hono();
    app.get('/', (c) => c.text(address(c) ?? 'unknown'));
    return (await app.fetch(createRequest(headers), info)).text();
  }

  describe.each(Object.entries(PLATFORMS))('%s', (_, { inHono, inHandlers, info, headers }) => {
    const forging = { ...headers, 'X-Forwarded-For': FORGED, Forwarded: `for=${FORGED}` };

    test('of Hono returns the client, whatever X-Forwarded-For contains', async () => {
      expect(await addressInHono(inHono, forging, info)).toBe(CLIENT);
    });

    test('returns no address on another platform', async () => {
      for (const foreign of [undefined, {}, { server: {} }, { remoteAddr: { path: '/socket' } }]) {
        expect(await addressInHono(inHono, {}, foreign)).toBe('unknown');
        expect(inHandlers?.(createRequest({}), foreign as never)).toBeUndefined();
      }
    });

    if (inHandlers === undefined) return;

    test('of handlers returns the client, whatever X-Forwarded-For contains', () => {
      expect(inHandlers(createRequest(forging), info as never)).toBe(CLIENT);
    });
  });

  test.each([
    ['Hono', (address: () => string) => new Hono().use(hono.rateLimit({ limit: 9, window: '1m', address })).fetch],
    ['handlers', (address: () => string) => web.rateLimit({ limit: 9, window: '1m', address })(() => new Response())],
  ])('the address function of %s may read Forwarded, so no warning is emitted', async (_, createHandler) => {
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await createHandler(() => CLIENT)(createRequest({ Forwarded: `for=${CLIENT}` }), {});
    expect(emitWarning).not.toHaveBeenCalled();
    emitWarning.mockRestore();
  });

  test.each([
    ['Hono', () => hono.rateLimit({ limit: 1, window: '1m' })],
    ['handlers', () => web.rateLimit({ limit: 1, window: '1m' })],
  ])('the limiter of %s requires to choose an address or a key', (_, create) => {
    expect(create).toThrow('Expected `address` or `key`, got neither');
  });
});

describe('adapters for Node', () => {
  const OTHER = '198.51.100.8';

  type Address = (request: never) => string | undefined;
  interface Adapter {
    readonly cloudflareAddress: Address;
    readonly vercelAddress: Address;
    readonly forwardedAddress: (options: { trustedProxies: number }) => Address;
  }

  /** Serves with a limit of one request by this address. */
  const HOSTS: Record<string, [Adapter, (address: unknown) => Promise<RequestListener>]> = {
    Express: [
      express,
      async (address) => {
        const app = createExpress();
        app.use(express.rateLimit({ limit: 1, window: '1m', address: address as never }));
        return app.get('/', (_request, response) => void response.send('hello'));
      },
    ],
    Fastify: [
      fastify,
      async (address) => {
        const app = Fastify();
        await app.register(fastify.rateLimit, { limit: 1, window: '1m', address: address as never });
        app.get('/', async () => 'hello');
        await app.ready();
        return app.routing;
      },
    ],
    Koa: [
      koa,
      async (address) => {
        const app = new Koa();
        app.use(koa.rateLimit({ limit: 1, window: '1m', address: address as never }));
        app.use((ctx) => {
          ctx.body = 'hello';
        });
        return app.callback();
      },
    ],
    Node: [
      node,
      async (address) =>
        node.rateLimit({ limit: 1, window: '1m', address: address as never })((_request, response) =>
          response.end('hello'),
        ),
    ],
  };

  async function statuses(listener: RequestListener, requests: readonly Record<string, string>[]): Promise<number[]> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as { port: number };
      const sent: number[] = [];
      for (const headers of requests) sent.push((await fetch(`http://127.0.0.1:${port}/`, { headers })).status);
      return sent;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  describe.each(Object.entries(HOSTS))('%s', (_, [adapter, serve]) => {
    test.each([
      ['cloudflareAddress', adapter.cloudflareAddress, 'CF-Connecting-IP', CLIENT, OTHER],
      ['vercelAddress', adapter.vercelAddress, 'X-Real-IP', CLIENT, OTHER],
      [
        'forwardedAddress',
        adapter.forwardedAddress({ trustedProxies: 2 }),
        'X-Forwarded-For',
        `forged, ${CLIENT}, 10.0.0.1`,
        `${CLIENT}, ${OTHER}, 10.0.0.1`,
      ],
    ])('counts by %s', async (_name, address, header, client, other) => {
      const requests = [client, client, other].map((value) => ({ [header]: value, Forwarded: 'for=192.0.2.1' }));
      expect(await statuses(await serve(address), requests)).toEqual([200, 429, 200]);
    });

    test('without an address, a request fails, and `address` must be a function', async () => {
      const log = jest.spyOn(console, 'error').mockImplementation(() => {});
      expect(await statuses(await serve(adapter.cloudflareAddress), [{}])).toEqual([500]);
      log.mockRestore();
      await expect(serve('cloudflare')).rejects.toThrow(
        'Expected `address` to be a function, got "cloudflare" (string)',
      );
    });
  });

  test('the functions of NestJS read the request of a context, or the handshake of a WebSocket', () => {
    const headers = { 'cf-connecting-ip': CLIENT, 'x-real-ip': OTHER, 'x-forwarded-for': `${CLIENT}, 10.0.0.1` };
    const contextOf = (client: object) => ({ getType: () => 'http', getArgByIndex: () => client }) as never;
    for (const client of [{ headers }, { handshake: { headers } }]) {
      expect(nestjs.cloudflareAddress(contextOf(client))).toBe(CLIENT);
      expect(nestjs.vercelAddress(contextOf(client))).toBe(OTHER);
      expect(nestjs.forwardedAddress({ trustedProxies: 2 })(contextOf(client))).toBe(CLIENT);
    }
    expect(nestjs.cloudflareAddress(contextOf({}))).toBeUndefined();
  });

  test.each(Object.values(HOSTS))('a wrong number of proxies is an error', ({ forwardedAddress }) => {
    expect(() => forwardedAddress({ trustedProxies: 0 })).toThrow('Expected `trustedProxies` to be an integer from 1');
    expect(() => forwardedAddress(undefined as never)).toThrow('Expected `forwardedAddress options` to be an object');
  });
});

describe('forged addresses', () => {
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
});
