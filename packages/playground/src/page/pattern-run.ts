import { outcomeOf, showResponse } from './last-response.js';

/** One press of a button, and the outcomes of its requests. */
export class Run {
  readonly #stopping = new AbortController();
  /** The requests without a response, in the order in which they were sent. */
  readonly #pending = new Set<AbortController>();
  readonly outcome = { allowed: 0, rejected: 0, failed: 0, canceled: 0, lost: 0 };
  /** Why the pattern ended early, if the user did not stop it. */
  why = '';

  /** Aborts when the run is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Stops the run and cancels its requests, the newest first. Otherwise the browser would send it instead of the others. */
  stop(): void {
    this.#stopping.abort();
    for (const request of [...this.#pending].reverse()) request.abort();
  }

  /** Sends a request. Resolves after the response, or when the request is canceled. */
  async hit(): Promise<void> {
    if (this.signal.aborted) return;
    const request = new AbortController();
    this.#pending.add(request);
    try {
      const response = await fetch('hit', { method: 'POST', priority: 'low', signal: request.signal });
      await response.text(); // Otherwise the browser keeps the connection open for it.
      this.outcome[outcomeOf(response)] += 1;
      showResponse(response);
    } catch {
      this.outcome[request.signal.aborted ? 'canceled' : 'lost'] += 1;
    } finally {
      this.#pending.delete(request);
    }
  }

  describe(): string {
    const { allowed, rejected, failed, canceled, lost } = this.outcome;
    const more = [`${failed} failed`, `${canceled} canceled`, `${lost} without a response`];
    const parts = [`${allowed} allowed`, `${rejected} rejected`, ...more.filter((part) => !part.startsWith('0 '))];
    return `${this.signal.aborted ? 'Stopped' : 'Done'}: ${parts.join(', ')}.${this.why}`;
  }
}
