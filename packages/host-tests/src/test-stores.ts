import { MemoryStore, type Store } from '@rollgate/core';
import { asynchronousStore } from '@rollgate/test-support/asynchronous-store';
import { flushPromises } from '@rollgate/test-support/flush-promises';

/** The clock of all stores here. It stands still unless a test moves it. */
export const clock = { ms: 0, now: () => clock.ms };
beforeEach(() => {
  clock.ms = 1_000_000;
});

export const memory = () => new MemoryStore({ clock });

/** A store that is not this process's memory, so it responds later, may fail and has a timeout. */
export const storeWith = (methods: Partial<Store>, inner = memory()): Store => asynchronousStore(inner, methods);

/** Waits until the server has noticed what the client did. Fails if it never does. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 100_000;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`Waited in vain until ${isTrue}`);
    await flushPromises();
  }
}
