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

/** @throws TypeError if the address, the headers or the body of a `Request` are invalid, as `fetch` does. */
export function callOf(...[input, init]: Arguments): FetchCall {
  const given = isRequest(input) ? input : undefined;
  const url = new URL(given?.url ?? (input as string | URL));
  const options = init && copyInit(init);
  const copy = copyBody(options?.body);
  if (options?.body != null) options.body = copy ?? startBody(options.body);
  const args: Arguments = [copyInput(input, options), options];
  const headers = new Headers(options?.headers ?? given?.headers);
  return {
    request: { method: (options?.method ?? given?.method ?? 'GET').toUpperCase(), url },
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

/**
 * Validates what is sent, except for the body and the signal, before the call waits.
 *
 * @throws TypeError as `fetch` does.
 */
export function validateCall({ request: { method, url }, args }: FetchCall): void {
  const body = bodyOf(args) === undefined ? null : '';
  Reflect.construct(Request, [url, { ...args[1], method, body, signal: null }]);
}
