import type { CallRequest, ResponseHead } from '../dialects/dialect.js';

/** The headers of a response of `fetch`, or any other object that reads them by name. */
export interface HeaderReader {
  get(name: string): string | null | undefined;
}

/** Creates what dialects read. */
export function createResponseHead(
  request: CallRequest,
  status: number,
  headers: HeaderReader,
  serverMs: number,
): ResponseHead {
  return { request, status, serverMs, header: (name) => headers.get(name) ?? undefined };
}
