import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { concurrency, rateLimit, rollingWindow } from '@rollgate/node';
import { until } from '@rollgate/test-support';

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
  const server = createServer(limit(handle as never) as never).listen(0, '127.0.0.1');
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
