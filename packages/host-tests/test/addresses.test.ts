import * as hono from '@rollgate/hono';
import * as web from '@rollgate/web';
import { type Context, Hono } from 'hono';

const CLIENT = '198.51.100.7';
const FORGED = '203.0.113.9';

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

test('a request without an address fails, because it must not share the limit of others', async () => {
  const limit = web.rateLimit({ limit: 1, window: '1m', address: web.cloudflareAddress });
  await expect(limit.check(createRequest({ 'X-Forwarded-For': FORGED }))).rejects.toThrow(
    /^Cannot determine the client's IP address/,
  );
});

test.each([
  ['Hono', () => hono.rateLimit({ limit: 1, window: '1m' })],
  ['handlers', () => web.rateLimit({ limit: 1, window: '1m' })],
])('the limiter of %s requires to choose an address or a key', (_, create) => {
  expect(create).toThrow('Expected `address` or `key`, got neither');
});
