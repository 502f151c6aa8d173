/** A promise that runs its listeners in the call that settles it. So the model decides when everything happens. */
export class Reply<Value> implements PromiseLike<Value> {
  #listeners: [(value: Value) => void, (error: unknown) => void][] = [];
  #settled: { value: Value } | { error: unknown } | undefined;

  succeed(value: Value): void {
    this.#settled = { value };
    for (const [onValue] of this.#take()) onValue(value);
  }

  fail(error: unknown): void {
    this.#settled = { error };
    for (const [, onError] of this.#take()) onError(error);
  }

  // biome-ignore lint/suspicious/noThenProperty: It stands for the promise of a store.
  then<Fulfilled = Value, Rejected = never>(
    onFulfilled?: ((value: Value) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((error: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): PromiseLike<Fulfilled | Rejected> {
    const next = new Reply<Fulfilled | Rejected>();
    const pass = <Input>(map: ((input: Input) => unknown) | null | undefined, orElse: (input: Input) => void) => {
      return (input: Input) => {
        if (!map) return orElse(input);
        let result: unknown;
        try {
          result = map(input);
        } catch (error) {
          return next.fail(error);
        }
        if (result instanceof Reply)
          result.#listen(
            (value) => next.succeed(value),
            (error) => next.fail(error),
          );
        else next.succeed(result as Fulfilled);
      };
    };
    this.#listen(
      pass(onFulfilled, (value: Value) => next.succeed(value as unknown as Fulfilled)),
      pass(onRejected, (error: unknown) => next.fail(error)),
    );
    return next;
  }

  #listen(onValue: (value: Value) => void, onError: (error: unknown) => void): void {
    if (this.#settled === undefined) this.#listeners.push([onValue, onError]);
    else if ('value' in this.#settled) onValue(this.#settled.value);
    else onError(this.#settled.error);
  }

  #take(): [(value: Value) => void, (error: unknown) => void][] {
    const listeners = this.#listeners;
    this.#listeners = [];
    return listeners;
  }
}
