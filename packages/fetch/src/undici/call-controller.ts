import type { Dispatcher } from 'undici';

type Controller = Dispatcher.DispatchController;

/**
 * What the caller's handler controls during all attempts of a call. It forwards to the present attempt, and aborts the wait before
 * it.
 */
export class CallController implements Controller {
  readonly #aborting = new AbortController();
  #attempt: Controller | undefined;
  #isPaused = false;

  /** Aborted when the caller aborts the call. */
  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Makes this attempt the present one. */
  follow(attempt: Controller): void {
    this.#attempt = attempt;
    if (this.aborted) attempt.abort(this.reason!);
    else if (this.#isPaused) attempt.pause();
  }

  get aborted(): boolean {
    return this.#aborting.signal.aborted;
  }

  get reason(): Error | null {
    return this.aborted ? this.#aborting.signal.reason : null;
  }

  get paused(): boolean {
    return this.#isPaused;
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
  }

  pause(): void {
    this.#isPaused = true;
    this.#attempt?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#attempt?.resume();
  }
}
