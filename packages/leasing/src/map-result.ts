import type { Awaitable } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';

/** Passes a result on in the same turn if the store has it already. Otherwise, `map` or `recover` get it when it comes. */
export function mapResult<From, To>(
  result: Awaitable<From>,
  map: (value: From) => Awaitable<To>,
  recover?: (error: unknown) => Awaitable<To>,
): Awaitable<To> {
  return isThenable(result) ? result.then(map, recover) : map(result);
}
