import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { leakyBucket } from '@rollgate/core';
import { appsOf, listen, memory, storeWith, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const DELAYED_COUNT = 90;
const HOUR_MS = 3_600_000;

describe.each(VERSIONS)('delayed requests in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function createQueue(isLater: boolean, serverOptions = {}) {
    const store = isLater ? storeWith({}) : memory();
    const limits = leakyBucket({ capacity: DELAYED_COUNT, interval: '1h' });
    const app = await limited({ limits, store, key: () => 'all' }, serverOptions);
    app.get('/', async () => 'hello');
    const address = await listen(app);
    const peek = () => app.rateLimiter!.peek('all');
    await app.rateLimiter!.check('all');
    return { app, address, peek, untilAllDelayed: () => until(async () => (await peek()).remaining === 0) };
  }

  async function delayStreams(isLater: boolean) {
    const served = await createQueue(isLater, { http2: true });
    const session = connectHttp2(served.address).on('error', () => {});
    const streams = Array.from({ length: DELAYED_COUNT }, () =>
      session.request({ ':path': '/' }).on('error', () => {}),
    );
    await served.untilAllDelayed();
    return { ...served, session, streams };
  }

  test.each([false, true])('free all starts when an HTTP/2 session is destroyed (later: %p)', async (isLater) => {
    const { session, peek } = await delayStreams(isLater);
    session.destroy();
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });

  test.each([false, true])(
    'free all starts when HTTP/2 streams are reset in any order (later: %p)',
    async (isLater) => {
      const { session, streams, peek } = await delayStreams(isLater);
      for (let turn = 0; turn < DELAYED_COUNT; turn++) {
        streams[(turn * 37) % DELAYED_COUNT]!.close();
        if (turn % 10 === 0) await flushPromises();
      }
      await until(async () => (await peek()).delayMs === HOUR_MS);
      session.destroy();
    },
  );

  test('free all starts when sockets of HTTP/1 close in any order', async () => {
    const { app, peek, untilAllDelayed } = await createQueue(true);
    const { port } = app.server.address() as AddressInfo;
    const sockets = Array.from({ length: DELAYED_COUNT }, () => connect(port, '127.0.0.1').on('error', () => {}));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await untilAllDelayed();
    for (let turn = 0; turn < DELAYED_COUNT; turn++) {
      sockets[(turn * 37) % DELAYED_COUNT]!.destroy();
      if (turn % 10 === 0) await flushPromises();
    }
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });
});
