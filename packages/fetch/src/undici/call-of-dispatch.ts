import { stringify } from 'node:querystring';
import type { Dispatcher } from 'undici';
import type { CallRequest } from '../dialects/dialect.js';

/** What a dispatcher sends. */
export type DispatchOptions = Parameters<Dispatcher.Dispatch>[0];

type Headers = NonNullable<DispatchOptions['headers']>;

/**
 * Copies what a dispatcher reads when it sends, because the caller may change it while the call waits. An iterator of headers can be
 * read only once, but the call may be repeated. Dispatchers do not copy bytes of a body.
 */
export function copyOf(options: DispatchOptions): DispatchOptions {
  const { headers, query } = options;
  return {
    ...options,
    ...(headers && { headers: copyOfHeaders(headers) }),
    ...(query && { query: copyOfRecord(query) }),
  };
}

function copyOfHeaders(headers: Headers): Headers {
  if (Array.isArray(headers)) return copyOfLists(headers);
  if (!(Symbol.iterator in headers)) return copyOfRecord(headers);
  const pairs = Array.from(headers as Iterable<[string, string]>, copyOfLists);
  return { [Symbol.iterator]: () => pairs.values() };
}

function copyOfRecord<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, copyOfLists(value)]));
}

/** Several values of a header are an array, also in an array of headers. */
function copyOfLists<Value>(value: Value): Value {
  return Array.isArray(value) ? (value.map(copyOfLists) as Value) : value;
}

/**
 * Returns the call that a dispatcher sends. A path may begin with two slashes, which would be another host in a relative address.
 * Dispatchers serialize `query` like this.
 */
export function requestOf({ method, path, query }: DispatchOptions, origin: string | URL): CallRequest {
  const url = new URL(path.startsWith('/') ? new URL(origin).origin + path : path);
  if (query) url.search = stringify(query);
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
