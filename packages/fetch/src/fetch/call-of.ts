import type { CallRequest } from '../dialects/dialect.js';

/** What `fetch` is called with, as far as it matters here. */
export interface FetchCall {
  readonly request: CallRequest;
  readonly signal: AbortSignal | undefined;
  readonly hasIdempotencyKey: boolean;
  /** Whether the body can be sent again. A stream cannot, and neither can the body of a `Request`, which is one. */
  readonly isReplayable: boolean;
  readonly body: unknown;
}

type Input = Parameters<typeof fetch>[0];
type Init = Parameters<typeof fetch>[1];

/** @throws TypeError if the address is invalid, as `fetch` does. */
export function callOf(input: Input, init: Init): FetchCall {
  const given = input instanceof Request ? input : undefined;
  const headers = new Headers(init?.headers ?? given?.headers);
  return {
    request: {
      method: (init?.method ?? given?.method ?? 'GET').toUpperCase(),
      url: new URL(given?.url ?? (input as string | URL)),
    },
    // `null` means that the signal of the `Request` does not matter.
    signal: (init?.signal === undefined ? given?.signal : init.signal) ?? undefined,
    hasIdempotencyKey: headers.has('idempotency-key'),
    isReplayable: init?.body == null ? given?.body == null : isReplayable(init.body),
    body: init?.body ?? given?.body,
  };
}

function isReplayable(body: unknown): boolean {
  return (
    typeof body === 'string' ||
    body instanceof URLSearchParams ||
    body instanceof FormData ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body)
  );
}
