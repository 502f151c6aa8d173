import type { Dispatcher } from 'undici';

type Controller = Dispatcher.DispatchController;

/**
 * What the caller's handler controls during all attempts of a call. It forwards to the present attempt, and aborts the wait before
 * it. What has been held goes to the handler as far as this does not pause.
 */
export class CallController implements Controller {
  readonly #aborting = new AbortController();
  /** Aborted when the caller aborts the call. */
  readonly signal: AbortSignal = this.#aborting.signal;
  #attempt: Controller | undefined;
  paused = false;
  /** The events for the handler that wait until it resumes. */
  #events: (() => void)[] = [];
  #isPassing = false;
  readonly #fail: (error: Error) => void;

  /** @param fail Called when the handler fails or aborts before it has got all events, because the attempt may have ended. */
  constructor(fail: (error: Error) => void) {
    this.#fail = fail;
  }

  /** Makes this attempt the present one. */
  follow(attempt: Controller): void {
    this.#attempt = attempt;
    if (this.aborted) attempt.abort(this.reason!);
    else if (this.paused) attempt.pause();
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get reason(): Error | null {
    return this.aborted ? this.signal.reason : null;
  }

  get rawHeaders(): NonNullable<Controller['rawHeaders']> | null {
    return this.#attempt?.rawHeaders ?? null;
  }

  get rawTrailers(): NonNullable<Controller['rawTrailers']> | null {
    return this.#attempt?.rawTrailers ?? null;
  }

  abort(reason: Error): void {
    this.#aborting.abort(reason);
    this.#attempt?.abort(reason);
    if (this.#events.length > 0) this.#fail(reason);
  }

  pause(): void {
    this.paused = true;
    this.#attempt?.pause();
  }

  resume(): void {
    this.paused = false;
    try {
      this.#passEvents();
    } catch (error) {
      this.abort(error as Error); // As dispatchers do with what a handler throws.
      this.#fail(error as Error);
    }
    if (!this.paused) this.#attempt?.resume();
  }

  /** Passes an event to the handler, once it does not pause and has got all earlier ones. */
  pass(event: () => void): void {
    this.#events.push(event);
    this.#passEvents();
  }

  /** Forgets the events that wait. */
  dropEvents(): void {
    this.#events = [];
  }

  #passEvents(): void {
    if (this.#isPassing) return; // The handler has resumed during an event.
    this.#isPassing = true;
    try {
      while (!this.paused && !this.aborted && this.#events.length > 0) this.#events.shift()!();
    } finally {
      this.#isPassing = false;
    }
    if (this.aborted && this.#events.length > 0) this.#fail(this.reason!);
  }
}
