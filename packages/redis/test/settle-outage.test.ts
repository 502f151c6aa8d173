import { RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';

const unhandled = jest.fn();
// A test that expects warnings must not print them.
beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  process.on('unhandledRejection', unhandled);
});
afterEach(() => {
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  jest.restoreAllMocks();
});

test('a settlement around a restart of Redis returns no units twice', async () => {
  const server = await RedisServer.start();
  const client = new Redis(server.url, { retryStrategy: () => 20 }).on('error', () => {});
  const limits = rollingWindow({ limit: 100, window: '1h' });
  const create = (onStoreError: 'throw' | 'allow') =>
    new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '30s', onStoreError, prefix: onStoreError });
  try {
    const [throwing, allowing] = [create('throw'), create('allow')];
    const lost = await throwing.check('ann', { cost: 60 });
    const ignored = await allowing.check('ann', { cost: 60 });
    const lower = await throwing.check('ann', { cost: 10 });
    const higher = await throwing.check('ann', { cost: 10 });
    client.options.enableOfflineQueue = false;
    await server.kill();
    await expect(throwing.settle(lost, { cost: 20 })).rejects.toThrow(StoreError);
    await expect(allowing.settle(ignored, { cost: 20 })).resolves.toBeUndefined();
    await server.restart(); // It has lost all of its data.
    client.options.enableOfflineQueue = true;
    expect((await throwing.check('ann', { cost: 7 })).remaining).toBe(93);
    await throwing.settle(lost, { cost: 0 }); // A decision is settled once.
    await throwing.settle(lower, { cost: 1 });
    expect((await throwing.peek('ann')).remaining).toBe(93);
    await throwing.settle(higher, { cost: 15 });
    await throwing.settle(higher, { cost: 0 });
    await throwing.refund(higher);
    expect((await throwing.peek('ann')).remaining).toBe(88);
  } finally {
    client.disconnect();
    await server.stop();
  }
});
