import { leakyBucket } from '@rollgate/core';
import { EXPRESSES, limitWith, memory, serve, storeWith, until } from '@rollgate/host-tests/express-servers';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const HELD = 90;
const HOUR_MS = 3_600_000;
const raw = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';

describe.each(EXPRESSES)('delayed requests in Express %s', (_, express) => {
  async function hold(isLater: boolean) {
    const store = isLater ? storeWith({}) : memory();
    const limits = leakyBucket({ capacity: HELD, interval: '1h' });
    const limit = limitWith({ limits, store, key: () => 'everybody' });
    const served = await serve(express, [limit]);
    const peek = () => limit.limiter.peek('everybody');
    await served.send();
    return { ...served, peek, untilHeld: () => until(async () => (await peek()).remaining === 0) };
  }

  test.each([false, true])('free all slots when a pipeline is cut (async store: %p)', async (isLater) => {
    const { open, peek, untilHeld } = await hold(isLater);
    const socket = open();
    socket.write(raw.repeat(HELD));
    await untilHeld();
    socket.destroy();
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });

  test.each([false, true])('free all slots when sockets close in any order (later: %p)', async (isLater) => {
    const { open, peek, untilHeld } = await hold(isLater);
    const sockets = Array.from({ length: HELD }, open);
    for (const socket of sockets) socket.write(raw);
    await untilHeld();
    // A step without a common factor with 90 visits every socket once.
    for (let turn = 0; turn < HELD; turn++) {
      sockets[(turn * 37) % HELD]!.destroy();
      if (turn % 10 === 0) await flushPromises();
    }
    await until(async () => (await peek()).delayMs === HOUR_MS);
  });
});
