/** Gets the outcome of one call: its result or its failure, once. */
export interface ResultListener<Result> {
  succeed(result: Result): void;
  fail(thrown: unknown): void;
  /** Whether it no longer waits for the outcome. */
  readonly isSettled?: boolean;
  /** How long it still waits. */
  readonly remainingMs?: number;
}

/**
 * A result that its owner settles later, and that you can await. A limiter listens to it instead, and so saves a promise
 * and the functions that settle one. At many checks in flight, they take a tenth of the process's time.
 */
export class PendingResult<Result> implements PromiseLike<Result> {
  // Without initial values, so that creating one runs no code.
  private listener?: ResultListener<Result>;
  private promise?: Promise<Result>;

  /** Whether a limiter has listened, and no longer waits because the call's deadline has passed. */
  get isAbandoned(): boolean {
    return this.listener?.isSettled === true;
  }

  /** How long a limiter that listens still waits, in milliseconds. `Infinity` without a deadline. */
  get remainingMs(): number {
    return this.listener?.remainingMs ?? Infinity;
  }

  /**
   * Passes the outcome to `listener`, in the owner's call. If you also await this result, do that before you listen.
   */
  listen(listener: ResultListener<Result>): void {
    if (this.promise === undefined) this.listener = listener;
    else this.promise.then(listener.succeed.bind(listener), listener.fail.bind(listener));
  }

  /** Settles with a result. Call it or {@link fail} once. */
  succeed(result: Result): void {
    if (this.listener === undefined) this.promise = Promise.resolve(result);
    else this.listener.succeed(result);
  }

  /** Settles with an error. */
  fail(thrown: unknown): void {
    if (this.listener === undefined) this.promise = Promise.reject(thrown);
    else this.listener.fail(thrown);
  }

  /** Like that of a promise. */
  // biome-ignore lint/suspicious/noThenProperty: It is awaited where no limiter listens.
  then<Fulfilled = Result, Rejected = never>(
    onFulfilled?: ((result: Result) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((thrown: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.promise ??= new Promise((succeed, fail) => this.listen({ succeed, fail }));
    return this.promise.then(onFulfilled, onRejected);
  }
}
