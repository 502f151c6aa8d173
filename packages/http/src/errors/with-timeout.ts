import type { Awaitable } from '@rollgate/core';
import { isThenable, withCode } from '@rollgate/core/store';

/**
 * Limits the time that an option function's promise may take, so that no request hangs on it.
 *
 * @param name The option that is the function.
 * @throws Error with the code `ERR_ROLLGATE_FUNCTION_TIMEOUT`, by rejecting after `timeoutMs`.
 */
export function withTimeout<Value>(name: string, promise: PromiseLike<Value>, timeoutMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `\`${name}\` did not settle within ${timeoutMs} ms. Make it faster or raise \`timeout\``;
      reject(withCode('ERR_ROLLGATE_FUNCTION_TIMEOUT', new Error(message)));
    }, timeoutMs);
    // A thenable may resolve with another one, which also has to settle before the timeout.
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** Applies `map` to what an option function returned, like `mapAwaitable` of the core, with the timeout of {@link withTimeout}. */
export function mapWithTimeout<Value, Result>(
  name: string,
  timeoutMs: number,
  value: Awaitable<Value>,
  map: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return isThenable(value) ? withTimeout(name, value, timeoutMs).then(map) : map(value);
}
