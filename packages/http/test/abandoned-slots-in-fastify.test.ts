import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { leakyBucket } from '@rollgate/core';
import { appsOf, listen, memory, storeWith, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const HELD = 90;
const HOUR_MS = 3_600_000;

describe.each(VERSIONS)('delayed requests in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function hold(isLater: boolean, serverOptions = {}) {
    const store = isLater ? storeWith({}) : memory();
    const limits = leakyBucket({ capacity: HELD, interval: '1h' });
    const app = await limited({ limits, store, key: () => 'everybody' }, serverOptions);
    app.get('/', async () => 'hello');
    const address = await listen(app);
    const peek = () => app.rateLimiter!.peek('everybody');
    await app.rateLimiter!.check('everybody');
    return { app, address, peek, untilHeld: () => until(async () => (await peek()).remaining === 0) };
  }

  async function holdStreams(isLater: boolean) {
    const held = await hold(isLater, { http2: true });
    const session = connectHttp2(held.address).on('error', () => {});
    const streams = Array.from({ length: HELD }, () => session.request({ ':path': '/' }).on('error', () => {}));
    await held.untilHeld();
    return { ...held, session, streams };
  }

  test.each([false, true])('free all slots when an HTTP/2 session is destroyed (later: %p)', async (isLater) => {
    const { session, peek } = await holdStreams(isLater);
    session.destroy();
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });

  test.each([false, true])('free all slots when HTTP/2 streams are reset in any order (later: %p)', async (isLater) => {
    const { session, streams, peek } = await holdStreams(isLater);
    for (let turn = 0; turn < HELD; turn++) {
      streams[(turn * 37) % HELD]!.close();
      if (turn % 10 === 0) await flushPromises();
    }
    await until(async () => (await peek()).delayMs === HOUR_MS);
    session.destroy();
  });

  test('free all slots when sockets of HTTP/1 close in any order', async () => {
    const { app, peek, untilHeld } = await hold(true);
    const { port } = app.server.address() as AddressInfo;
    const sockets = Array.from({ length: HELD }, () => connect(port, '127.0.0.1').on('error', () => {}));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await untilHeld();
    for (let turn = 0; turn < HELD; turn++) {
      sockets[(turn * 37) % HELD]!.destroy();
      if (turn % 10 === 0) await flushPromises();
    }
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });
});
