import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createHttp1Client, createHttp2Client, type Reply } from '@rollgate/host-tests/client';
import { type RateLimitOptions, rateLimit } from '@rollgate/node';

type Listener = (request: unknown, response: ServerResponse) => unknown;

const LIMIT: RateLimitOptions = { limit: 9, window: '1m', key: () => 'ann' };

const logged: unknown[] = [];
beforeEach(() => {
  logged.length = 0;
  jest.spyOn(console, 'error').mockImplementation((error) => void logged.push(error));
});
afterEach(() => jest.restoreAllMocks());

/** Serves a listener and returns the reply to one request. */
async function requestFrom(protocol: string, listener: Listener, options = LIMIT): Promise<Reply> {
  const isHttp2 = protocol === 'http2';
  const limited = rateLimit(options)(listener as never);
  const server = isHttp2 ? createHttp2Server(limited as never) : createServer(limited);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = isHttp2 ? createHttp2Client(port) : createHttp1Client(port);
  try {
    return await client.open('/').reply;
  } finally {
    client.close();
    server.close();
  }
}

describe.each(['http', 'http2'])('by default, a handler of %s that throws', (protocol) => {
  test('gives a response without the headers of the body that it had prepared', async () => {
    const error = new Error('the handler failed');
    const { status, headers, body } = await requestFrom(protocol, (_, response) => {
      response.setHeader('Content-Length', 1000);
      response.setHeader('Content-Encoding', 'gzip');
      response.setHeader('Cache-Control', 'public, max-age=600');
      response.setHeader('ETag', '"1"');
      response.setHeader('Access-Control-Allow-Origin', '*');
      throw error;
    });
    expect([status, body]).toEqual([500, 'Internal Server Error']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-ratelimit-remaining': '8',
    });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('etag');
    expect(logged).toEqual([error]);
  });

  test('after the end of its response leaves the response whole', async () => {
    const { status, body } = await requestFrom(protocol, async (_, response) => {
      response.end('x'.repeat(10_000_000));
      throw new Error('the log failed');
    });
    expect([status, body.length]).toEqual([200, 10_000_000]);
    expect(logged).toHaveLength(1);
  });

  test.each([
    [{ status: 404 }, 404, 'Not Found'],
    [{ statusCode: 409, expose: true }, 409, 'the handler failed'],
    [{ status: 200 }, 500, 'Internal Server Error'],
    [{ status: 'bad' }, 500, 'Internal Server Error'],
  ])('has the status of its error %o', async (members, expectedStatus, expectedBody) => {
    const { status, body } = await requestFrom(protocol, () => {
      throw Object.assign(new Error('the handler failed'), members);
    });
    expect([status, body]).toEqual([expectedStatus, expectedBody]);
    expect(logged).toHaveLength(body === 'the handler failed' ? 0 : 1);
  });
});
