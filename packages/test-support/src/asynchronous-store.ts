import type { Store } from '@rollgate/core';

/** A store that replies later with what another one decides at once. `methods` replaces some of its methods. */
export const asynchronousStore = (inner: Store, methods: Partial<Store> = {}): Store => ({
  check: async (...args) => inner.check(...args),
  peek: async (...args) => inner.peek(...args),
  refund: async (receipt) => inner.refund(receipt),
  reset: async (...keys) => inner.reset(...keys),
  ...methods,
});
