import type { Awaitable } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';

/**
 * Passes a result on in the same turn if the store has it already. Otherwise, `map` or `recover` get it when it comes. Unlike
 * `mapAwaitable`, it calls `then` of the result itself, because results that come in virtual time have no place for a promise.
 */
export function mapResult<From, To>(
  result: Awaitable<From>,
  map: (value: From) => Awaitable<To>,
  recover?: (error: unknown) => Awaitable<To>,
): Awaitable<To> {
  return isThenable(result) ? result.then(map, recover) : map(result);
}
