import { getEventListeners } from 'node:events';
import { MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';

test('a signal that outlives many waits keeps no reference to them', async () => {
  const any = jest.spyOn(AbortSignal, 'any');
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  const { signal } = new AbortController();
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1000, window: '1h' }) });
  for (let call = 0; call < 100; call++) await limiter.wait('ann', { signal, timeout: '1m' });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  // The sources of a signal from `AbortSignal.any` keep a reference to it.
  expect(any).not.toHaveBeenCalled();
  expect(timeout).not.toHaveBeenCalled();
  any.mockRestore();
  timeout.mockRestore();
});

test('a wait that rejects leaves no listener on its signal', async () => {
  const caller = new AbortController();
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
  await limiter.check('ann');
  await expect(limiter.wait('ann', { signal: caller.signal, timeout: '1m' })).rejects.toThrow(
    'the earliest possible start',
  );
  const waiting = limiter.wait('ann', { signal: caller.signal });
  await flushPromises();
  expect(getEventListeners(caller.signal, 'abort')).not.toHaveLength(0);
  caller.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  await expect(limiter.wait('ann', { signal: caller.signal })).rejects.toThrow('left');
});

test('a wait whose timeout passes rejects with a TimeoutError that has a code', async () => {
  const silence = () => new Promise<never>(() => {});
  const limiter = new RateLimiter({
    limits: rollingWindow({ limit: 1, window: '1h' }),
    store: { check: silence, peek: silence, refund() {}, reset() {} },
  });
  const late = limiter.wait('ann', { timeout: 5 });
  await expect(late).rejects.toMatchObject({ name: 'TimeoutError', code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
});

test('a wait whose signal aborts between the peek and the check is not charged', async () => {
  const isAbortedAtCheck: boolean[] = [];
  for (let microtasks = 0; microtasks < 30; microtasks++) {
    const caller = new AbortController();
    const memory = new MemoryStore();
    const store: Store = {
      check: async (...call) => {
        isAbortedAtCheck.push(caller.signal.aborted);
        return memory.check(...call);
      },
      peek: async (...call) => {
        let before = Promise.resolve();
        for (let count = 0; count < microtasks; count++) before = before.then(() => {});
        before.then(() => caller.abort());
        return memory.peek(...call);
      },
      refund() {},
      reset() {},
    };
    // Only such a limit makes the caller peek.
    const limits = rollingWindow({ limit: 1, window: '1h', countRejected: true });
    const limiter = new RateLimiter({ limits, store });
    await limiter.wait('ann', { signal: caller.signal }).catch(({ name }) => expect(name).toBe('AbortError'));
  }
  expect(new Set(isAbortedAtCheck)).toEqual(new Set([false]));
});
