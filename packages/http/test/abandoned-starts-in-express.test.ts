import { leakyBucket } from '@rollgate/core';
import { EXPRESSES, limitWith, memory, serve, storeWith, until } from '@rollgate/host-tests/express-servers';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const DELAYED_COUNT = 90;
const HOUR_MS = 3_600_000;
const raw = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';

describe.each(EXPRESSES)('delayed requests in Express %s', (_, express) => {
  async function createQueue(isLater: boolean) {
    const store = isLater ? storeWith({}) : memory();
    const limits = leakyBucket({ capacity: DELAYED_COUNT, interval: '1h' });
    const limit = limitWith({ limits, store, key: () => 'all' });
    const served = await serve(express, [limit]);
    const peek = () => limit.limiter.peek('all');
    await served.send();
    return { ...served, peek, untilAllDelayed: () => until(async () => (await peek()).remaining === 0) };
  }

  test.each([false, true])('free all starts when a pipeline is cut (async store: %p)', async (isLater) => {
    const { open, peek, untilAllDelayed } = await createQueue(isLater);
    const socket = open();
    socket.write(raw.repeat(DELAYED_COUNT));
    await untilAllDelayed();
    socket.destroy();
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });

  test.each([false, true])('free all starts when sockets close in any order (later: %p)', async (isLater) => {
    const { open, peek, untilAllDelayed } = await createQueue(isLater);
    const sockets = Array.from({ length: DELAYED_COUNT }, open);
    for (const socket of sockets) socket.write(raw);
    await untilAllDelayed();
    // A step without a common factor with 90 visits every socket once.
    for (let turn = 0; turn < DELAYED_COUNT; turn++) {
      sockets[(turn * 37) % DELAYED_COUNT]!.destroy();
      if (turn % 10 === 0) await flushPromises();
    }
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });
});
