import type { CallRequest } from '../dialects/dialect.js';
import { copyBody, copyInit, copyInput, isRequest } from './copy-arguments.js';

type Arguments = Parameters<typeof fetch>;

/** What `fetch` is called with, as far as it matters here. */
export interface FetchCall {
  readonly request: CallRequest;
  readonly signal: AbortSignal | undefined;
  readonly hasIdempotencyKey: boolean;
  /** Whether the body can be sent again. A stream cannot, and neither can the body of a `Request`, which is one. */
  readonly isReplayable: boolean;
  readonly body: unknown;
  /** What is sent. */
  readonly args: Arguments;
}

/** @throws TypeError if the address, the headers or the body of a `Request` are invalid, as `fetch` does. */
export function callOf(...[input, init]: Arguments): FetchCall {
  const given = isRequest(input) ? input : undefined;
  const url = new URL(given?.url ?? (input as string | URL));
  const options = init && copyInit(init);
  const copy = copyBody(options?.body);
  const args: Arguments = [copyInput(input, options), copy === undefined ? options : { ...options, body: copy }];
  const headers = new Headers(options?.headers ?? given?.headers);
  return {
    request: { method: (options?.method ?? given?.method ?? 'GET').toUpperCase(), url },
    // `null` means that the signal of the `Request` does not matter.
    signal: (options?.signal === undefined ? given?.signal : options.signal) ?? undefined,
    hasIdempotencyKey: headers.has('idempotency-key'),
    isReplayable: copy !== undefined || (options?.body == null && given?.body == null),
    body: options?.body ?? (given && (args[0] as Request).body),
    args,
  };
}

/**
 * Validates what is sent, except for the body and the signal, before the call waits.
 *
 * @throws TypeError as `fetch` does.
 */
export function validateCall({ request: { method, url }, body, args: [, init] }: FetchCall): void {
  Reflect.construct(Request, [url, { ...init, method, body: body == null ? null : '', signal: null }]);
}
