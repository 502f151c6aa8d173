import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  constants,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createHttp1Client, createHttp2Client, type Reply } from '@rollgate/host-tests/client';
import { concurrency, type RateLimitOptions, rateLimit, rollingWindow } from '@rollgate/node';
import { until } from '@rollgate/test-support';

describe('errors of a handler', () => {
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
});

describe('streamed responses', () => {
  type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => unknown;

  const BODY = 'x'.repeat(1_000_000);

  let end = () => {};
  afterEach(() => end());

  /** Serves HTTP/2 with one slot and ten units, and connects a client. */
  async function serve(handle: Handler, options?: ClientSessionOptions) {
    const limit = rateLimit({
      limits: { slots: concurrency({ limit: 1, lease: '1h' }), units: rollingWindow({ limit: 10, window: '1h' }) },
      key: () => ({ slots: 'all', units: 'all' }),
      skipAbortedRequests: true,
    });
    const server = createHttp2Server(limit(handle as never) as never).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
    const [[serverSession]] = await Promise.all([once(server, 'session'), once(session, 'connect')]);
    end = () => {
      session.destroy();
      serverSession.destroy();
      server.close();
    };
    const untilFree = async (units: number) => {
      const peek = () => limit.limiter.peek({ slots: 'all', units: 'all' });
      await until('the slot is free', async () => (await peek()).limits.slots.remaining === 1);
      expect((await peek()).limits.units.remaining).toBe(units);
    };
    return { session, untilFree };
  }

  /** Sends a request, and leaves the response unread. */
  async function send(session: ClientHttp2Session, { method = 'GET', body = '', isWhole = true } = {}) {
    const stream = session.request({ ':method': method }, { endStream: method === 'GET' });
    if (method === 'POST') stream.write(body);
    if (isWhole && method === 'POST') stream.end();
    await once(stream, 'response');
    return stream;
  }

  function respondWithStream({ stream }: Http2ServerResponse): void {
    stream.respond({ ':status': 200 });
    stream.end(BODY);
  }

  test.each(['NGHTTP2_NO_ERROR', 'NGHTTP2_CANCEL'] as const)(
    'a client that resets a stream with %s while an ended response is unread frees its slot, and counts as aborted',
    async (code) => {
      const { session, untilFree } = await serve((_request, response) => void response.end(BODY));
      const stream = await send(session);
      stream.close(constants[code]);
      await untilFree(10);
    },
  );

  test('a client that resets a stream whose response the handler has written to the stream itself counts as aborted', async () => {
    const { session, untilFree } = await serve((_request, response) => respondWithStream(response));
    const stream = await send(session);
    stream.close(constants.NGHTTP2_NO_ERROR);
    await untilFree(10);
  });

  test.each<[string, string, Handler]>([
    ['to a GET request', 'GET', (_request, response) => respondWithStream(response)],
    ['to a POST request', 'POST', (_request, response) => respondWithStream(response)],
    ['of a late handler', 'GET', (_request, response) => nextTurn().then(() => respondWithStream(response))],
  ])('a complete response %s that the handler writes to the stream itself counts', async (_name, method, handle) => {
    const { session, untilFree } = await serve(handle);
    for await (const _chunk of await send(session, { method, body: 'hello' }));
    await untilFree(9);
  });

  test('a complete response that the handler writes to the stream itself counts, even if a socket still has to send most of it', async () => {
    const { session, untilFree } = await serve(
      (_request, { stream }) => {
        stream.respond({ ':status': 200 });
        stream.end('x'.repeat(16_000_000)); // More than the sockets hold.
      },
      { settings: { initialWindowSize: 2 ** 30 } }, // So Node sends all of it to the socket at once.
    );
    session.setLocalWindowSize(2 ** 30);
    for await (const _chunk of await send(session));
    await untilFree(9);
  });

  test('a client that leaves frees the slot of a stream that it has reset while the app has paused the upload', async () => {
    let hasPaused = () => {};
    const paused = new Promise<void>((resolve) => {
      hasPaused = resolve;
    });
    const { session, untilFree } = await serve((request, response) => {
      request.once('data', () => {
        request.pause();
        hasPaused();
      });
      response.end(BODY);
    });
    const stream = await send(session, { method: 'POST', body: 'y'.repeat(60_000), isWhole: false });
    await paused;
    stream.close(constants.NGHTTP2_NO_ERROR);
    await once(stream, 'close');
    session.close();
    await untilFree(10);
  });
});
