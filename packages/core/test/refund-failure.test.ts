import { leakyBucket, MemoryStore, RateLimiter, type RefundFailure } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { recordEvents } from '@rollgate/test-support/record-events';

class BrokenRefunds extends MemoryStore {
  override refund(): void {
    throw new Error('the decision is lost');
  }
}

/** Aborts a wait in a queue, so that its start has to be refunded. */
async function leaveQueue(limiter: RateLimiter): Promise<void> {
  await limiter.check('ann');
  const caller = new AbortController();
  const waiting = limiter.wait('ann', { signal: caller.signal });
  while ((await limiter.peek('ann')).remaining > 0) await flushPromises();
  caller.abort();
  await expect(waiting).rejects.toThrow();
}

const createLimiter = () =>
  new RateLimiter({ name: 'mail', limits: leakyBucket({ capacity: 1, interval: '1h' }), store: new BrokenRefunds() });

test('a failed refund that no caller awaits is published', async () => {
  const failures = recordEvents<RefundFailure>('rollgate:refund:failure');
  const limiter = createLimiter();
  await leaveQueue(limiter);
  await flushPromises();
  failures.stop();
  expect(failures.events).toEqual([
    {
      limiter,
      name: 'mail',
      prefix: 'rollgate',
      dryRun: false,
      decision: expect.objectContaining({ allowed: true }),
      error: new Error('the decision is lost'),
    },
  ]);
});

test('without a subscriber the first one causes a warning', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  for (let i = 0; i < 2; i++) {
    await leaveQueue(createLimiter());
    await flushPromises();
  }
  expect(warn.mock.calls).toEqual([
    [
      'A refund of the limiter `mail` failed, so the request stays charged: the decision is lost',
      { type: 'RollgateWarning', code: 'ROLLGATE_REFUND_FAILED' },
    ],
  ]);
  warn.mockRestore();
});
