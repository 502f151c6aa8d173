import { AsyncLocalStorage } from 'node:async_hooks';
import { scheduleAfter } from '@rollgate/core/store';

/** Lets nothing else run. */
function stall(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

const held = (delayMs: number) => new Promise<void>((resolve) => scheduleAfter(delayMs, resolve));

afterEach(() => jest.restoreAllMocks());

test.each([0.4, 1, 7.3, 20])('nobody leaves before %d ms have passed', async (delayMs) => {
  for (let turn = 0; turn < 20; turn++) {
    const startMs = performance.now();
    await held(delayMs);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(delayMs - 0.001);
  }
});

test('those who are late leave in the order of their moments', async () => {
  const order: string[] = [];
  const all = [held(20).then(() => order.push('first')), held(30).then(() => order.push('second'))];
  stall(15);
  all.push(held(20).then(() => order.push('third'))); // To Node of the same duration as the first.
  stall(30);
  await Promise.all(all);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('who is let go never leaves, and the others do', async () => {
  const left: string[] = [];
  const cancel = scheduleAfter(1, () => left.push('let go'));
  cancel();
  cancel();
  await held(5);
  expect(left).toEqual([]);
});

test('one whose leaving fails stops nobody', async () => {
  const other = held(3);
  const setTimer = jest.spyOn(globalThis, 'setTimeout').mockReturnValueOnce(undefined as never);
  scheduleAfter(1, () => {
    throw new Error('failed');
  });
  const release = setTimer.mock.calls[0]![0] as () => void;
  stall(5);
  expect(release).toThrow('failed');
  await other;
});

test('a long wait is slept in parts that a timer can be set for', () => {
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

test('who leaves does so in the async context it came in', async () => {
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
])('a delay of %p is refused, and puts nobody out of order', async (delayMs, kind, shown) => {
  const left: string[] = [];
  const others = [held(200).then(() => left.push('second')), held(3).then(() => left.push('first'))];
  const wrong = () => scheduleAfter(delayMs as number, () => left.push('wrong'));
  expect(wrong).toThrow(kind);
  expect(wrong).toThrow(`Expected \`delayMs\` to be a finite number from 0, got ${shown}`);
  await Promise.all(others);
  expect(left).toEqual(['first', 'second']);
});

test('a delay of 0 is none', async () => {
  await held(0);
});
