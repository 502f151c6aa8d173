import { AsyncLocalStorage } from 'node:async_hooks';
import { scheduleAfter } from '@rollgate/core/store';

/** Blocks the event loop. */
function stall(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

const sleep = (delayMs: number) => new Promise<void>((resolve) => scheduleAfter(delayMs, resolve));

afterEach(() => jest.restoreAllMocks());

test.each([0.4, 1, 7.3, 20])('no callback runs before %d ms have passed', async (delayMs) => {
  for (let turn = 0; turn < 20; turn++) {
    const startMs = performance.now();
    await sleep(delayMs);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(delayMs - 0.001);
  }
});

test('late callbacks run in the order of their times', async () => {
  const order: string[] = [];
  const all = [sleep(20).then(() => order.push('first')), sleep(30).then(() => order.push('second'))];
  stall(15);
  all.push(sleep(20).then(() => order.push('third'))); // Node treats both as timers of the same duration.
  stall(30);
  await Promise.all(all);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('a canceled callback never runs, and the others do', async () => {
  const ran: string[] = [];
  const cancel = scheduleAfter(1, () => ran.push('canceled'));
  cancel();
  cancel();
  await sleep(5);
  expect(ran).toEqual([]);
});

test('a callback that throws does not stop the others', async () => {
  const other = sleep(200);
  const setTimer = jest.spyOn(globalThis, 'setTimeout').mockReturnValueOnce(undefined as never);
  scheduleAfter(1, () => {
    throw new Error('failed');
  });
  const release = setTimer.mock.calls[0]![0] as () => void;
  stall(5);
  expect(release).toThrow('failed');
  await other;
});

test('a wait longer than the longest timer takes several timers', () => {
  const parts: unknown[] = [];
  let wake!: () => void;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
    wake = callback;
    parts.push(ms);
  }) as never);
  const left = jest.fn();
  const startMs = performance.now();
  const now = jest.spyOn(performance, 'now').mockReturnValue(startMs);
  scheduleAfter(2 ** 31 + 5000, left);
  now.mockReturnValue(startMs + 2 ** 31 - 1);
  wake();
  expect(left).not.toHaveBeenCalled();
  now.mockReturnValue(startMs + 2 ** 31 + 5000.5);
  wake();
  expect(left).toHaveBeenCalledTimes(1);
  expect(parts).toEqual([2 ** 31 - 1, 5001]);
});

test('a callback runs in the async context that scheduled it', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen = await Promise.all(
    ['ann', 'bob'].map((name, index) =>
      context.run(name, () => new Promise((resolve) => scheduleAfter(4 - index, () => resolve(context.getStore())))),
    ),
  );
  expect(seen).toEqual(['ann', 'bob']);
});

test.each([
  [Number.NaN, RangeError, 'NaN (number)'],
  [Infinity, RangeError, 'Infinity (number)'],
  [-0.001, RangeError, '-0.001 (number)'],
  ['5', TypeError, '"5" (string)'],
  [undefined, TypeError, 'undefined'],
])('a delay of %p is rejected, and the other callbacks keep their order', async (delayMs, kind, shown) => {
  const ran: string[] = [];
  const others = [sleep(30).then(() => ran.push('second')), sleep(3).then(() => ran.push('first'))];
  const wrong = () => scheduleAfter(delayMs as number, () => ran.push('wrong'));
  expect(wrong).toThrow(kind);
  expect(wrong).toThrow(`Expected \`delayMs\` to be a finite number from 0, got ${shown}`);
  await Promise.all(others);
  expect(ran).toEqual(['first', 'second']);
});

test('a delay of 0 is valid', async () => {
  await sleep(0);
});
