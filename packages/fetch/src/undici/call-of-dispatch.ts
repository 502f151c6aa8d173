import type { Dispatcher } from 'undici';
import type { CallRequest } from '../dialects/dialect.js';

/** What a dispatcher sends. */
export type DispatchOptions = Parameters<Dispatcher.Dispatch>[0];

/** Returns the call that a dispatcher sends. A path may begin with two slashes, which would be another host in a relative address. */
export function requestOf({ method, path }: DispatchOptions, origin: string | URL): CallRequest {
  const url = new URL(path.startsWith('/') ? new URL(origin).origin + path : path);
  return { method: method.toUpperCase(), url };
}

/** Whether the body can be sent again. `fetch` of undici passes streams, whatever its caller has passed. */
export function hasReplayableBody({ body }: DispatchOptions): boolean {
  return body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array;
}

/** Headers may be an array of names and values, pairs, or a record. */
export function hasIdempotencyKey({ headers }: DispatchOptions): boolean {
  if (headers === undefined || headers === null) return false;
  const names = Array.isArray(headers) ? headers.filter((_, index) => index % 2 === 0) : namesOf(headers);
  return names.some((name) => String(name).toLowerCase() === 'idempotency-key');
}

function namesOf(headers: object): unknown[] {
  if (!(Symbol.iterator in headers)) return Object.keys(headers);
  return Array.from(headers as Iterable<readonly [unknown, unknown]>, ([name]) => name);
}
