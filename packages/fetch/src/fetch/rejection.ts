import type { Report } from '../reports/read-report.js';
import { readAside } from './read-body.js';

/** A response that is the caller's if its call cannot be repeated. */
export class Rejection {
  readonly #cancelCopy: (() => void) | undefined;

  constructor(
    private readonly response: Response,
    readonly report: Report,
  ) {
    if (response.body === null || response.bodyUsed || response.body.locked) return;
    // Once its body is in memory, other calls can use its connection during the wait. A longer one keeps it.
    const copy = readAside(response);
    copy.bytes.catch(() => {});
    this.#cancelCopy = copy.cancel;
  }

  /** Returns the response for the caller, who reads what is not in memory yet. */
  take(): Response {
    this.#cancelCopy?.();
    return this.response;
  }

  /** Frees the connection of a response that is not read. The connection may have broken already. */
  discard(): void {
    this.take()
      .body?.cancel()
      .catch(() => {});
  }
}
