import type { CallRequest } from '../dialects/dialect.js';
import { copyInit, copyInput, isNamed, isRequest } from './copy-arguments.js';

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
  const args: Arguments = [copyInput(input, init), init && copyInit(init)];
  const headers = new Headers(args[1]?.headers ?? given?.headers);
  return {
    request: { method: (init?.method ?? given?.method ?? 'GET').toUpperCase(), url },
    // `null` means that the signal of the `Request` does not matter.
    signal: (init?.signal === undefined ? given?.signal : init.signal) ?? undefined,
    hasIdempotencyKey: headers.has('idempotency-key'),
    isReplayable: init?.body == null ? given?.body == null : isReplayable(init.body),
    body: init?.body ?? (given && (args[0] as Request).body),
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

function isReplayable(body: unknown): boolean {
  const isBytes = body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  return typeof body === 'string' || isBytes || isNamed(body, 'URLSearchParams', 'FormData', 'Blob', 'File');
}
