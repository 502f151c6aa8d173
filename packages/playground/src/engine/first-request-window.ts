import { type FixedWindowOptions, fixedWindow, type Limit } from '@rollgate/core';

/**
 * A fixed window that starts with a key's first request, and again with the first one after its end. express-rate-limit
 * counts that way. Comparisons simulate it, and a `MemoryStore` is all that it needs.
 */
export function firstRequestWindow(options: FixedWindowOptions): Limit {
  const limit = fixedWindow(options);
  const test: Limit['test'] = (state, nowMicros, cost, verdict) => {
    limit.test(state, nowMicros, cost, verdict);
    const isRunning = verdict.resetMicros > 0;
    if (!isRunning) verdict.atMicros = nowMicros + limit.windowMicros; // The end of the window that this request starts.
  };
  // `record` and the others are those of the limit. They call the new `test`.
  return Object.create(limit, { algorithm: { value: 'first-request-window' }, test: { value: test } });
}
