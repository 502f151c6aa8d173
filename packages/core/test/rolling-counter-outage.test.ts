import { type CountingStore, RollingCounter } from '@rollgate/core';

test('a rolling counter does not wait for a store that is silent, and probes it without adding', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
  const added: number[] = [];
  const store: CountingStore = {
    addCount(_counter, _subject, units) {
      added.push(units);
      return new Promise(() => {});
    },
  };
  const counter = new RollingCounter({ store, timeout: 5 });
  await expect(counter.add('ann', 3)).rejects.toThrow('The store did not respond within 5 ms');
  await expect(counter.add('ann', 3)).rejects.toThrow('The store is down');
  expect(added).toEqual([3, 0]);
  warn.mockRestore();
});
