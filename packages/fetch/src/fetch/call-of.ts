import { startBody } from '../calls/unsent-body.js';
import type { CallRequest } from '../dialects/dialect.js';
import { copyBody, copyInit, copyInput, isRequest } from './copy-arguments.js';

type Arguments = Parameters<typeof fetch>;

/** What `fetch` is called with, as far as it matters here. */
export interface FetchCall {
  readonly request: CallRequest;
  readonly signal: AbortSignal | undefined;
  readonly hasIdempotencyKey: boolean;
  /** A body that cannot be sent again, such as a stream. That of a `Request` is one. */
  readonly stream: unknown;
  /** What is sent. */
  readonly args: Arguments;
}

/**
 * Reads the arguments of a call. If they are invalid, a stream of the caller stays as it is, as with `fetch`.
 *
 * @param isGlobal Whether the global `fetch` sends. Another one may take more arguments.
 * @throws TypeError if the address, the headers, the body of a `Request` or, for the global `fetch`, an option are invalid.
 */
export function callOf([input, init]: Arguments, isGlobal: boolean): FetchCall {
  const given = isRequest(input) ? input : undefined;
  const url = new URL(given?.url ?? (input as string | URL));
  const options = init && copyInit(init);
  const headers = new Headers(options?.headers ?? given?.headers);
  const method = String(options?.method ?? given?.method ?? 'GET');
  const body = options?.body ?? undefined;
  if (isGlobal) validate(url, { ...options, method, body: standInFor(body, given) });
  const copy = copyBody(body);
  const args: Arguments = [copyInput(input, options), options];
  if (body !== undefined) options!.body = copy ?? startBody(body);
  return {
    request: { method: method.toUpperCase(), url },
    // `null` means that the signal of the `Request` does not matter.
    signal: (options?.signal === undefined ? given?.signal : options.signal) ?? undefined,
    hasIdempotencyKey: headers.has('idempotency-key'),
    stream: copy === undefined ? bodyOf(args) : undefined,
    args,
  };
}

function bodyOf([input, init]: Arguments): unknown {
  return init?.body ?? (isRequest(input) ? input.body : undefined) ?? undefined;
}

/** Returns what is validated like a body, without reading it. Streams need `duplex`, which that of a `Request` has had. */
function standInFor(body: unknown, given: Request | undefined): ReadableStream | string | null {
  if (Symbol.asyncIterator in Object(body)) return new ReadableStream();
  return body === undefined && !given?.body ? null : '';
}

/** Validates what is sent before the call waits, except for the signal. */
function validate(url: URL, init: NonNullable<Arguments[1]>): void {
  Reflect.construct(Request, [url, { ...init, signal: null }]);
}
