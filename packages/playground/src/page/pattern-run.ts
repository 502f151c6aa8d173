import { outcomeOf, showResponse } from './last-response.js';

/** One press of a button, and what happened to its requests. */
export class Run {
  readonly #stopping = new AbortController();
  /** By the order of sending. */
  readonly #unanswered = new Set<AbortController>();
  readonly outcome = { allowed: 0, rejected: 0, failed: 0, withdrawn: 0, lost: 0 };
  /** Why it was stopped, where a person did not do it. */
  why = '';

  /** Aborts when the run is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Stops it, and withdraws what is on its way: the last first, else the browser would send it in the place of the others. */
  stop(): void {
    this.#stopping.abort();
    for (const request of [...this.#unanswered].reverse()) request.abort();
  }

  /** Sends a request; resolves when it is answered, or nobody waits for the answer any more. */
  async hit(): Promise<void> {
    if (this.signal.aborted) return;
    const request = new AbortController();
    this.#unanswered.add(request);
    try {
      const response = await fetch('hit', { method: 'POST', priority: 'low', signal: request.signal });
      await response.text(); // Else the browser keeps the connection for it.
      this.outcome[outcomeOf(response)] += 1;
      showResponse(response);
    } catch {
      this.outcome[request.signal.aborted ? 'withdrawn' : 'lost'] += 1;
    } finally {
      this.#unanswered.delete(request);
    }
  }

  inWords(): string {
    const { allowed, rejected, failed, withdrawn, lost } = this.outcome;
    const more = [`${failed} failed`, `${withdrawn} canceled`, `${lost} without a response`];
    const parts = [`${allowed} allowed`, `${rejected} rejected`, ...more.filter((part) => !part.startsWith('0 '))];
    return `${this.signal.aborted ? 'Stopped' : 'Done'}: ${parts.join(', ')}.${this.why}`;
  }
}
