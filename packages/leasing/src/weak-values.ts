/** Values by name, until the garbage collector removes them. */
export class WeakValues<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #registry = new FinalizationRegistry<string>((name) => {
    if (this.get(name) === undefined) this.#values.delete(name);
  });

  get(name: string): Value | undefined {
    return this.#values.get(name)?.deref();
  }

  set(name: string, value: Value): void {
    this.#values.set(name, new WeakRef(value));
    this.#registry.register(value, name);
  }

  /** All names and values that are left. */
  *entries(): Generator<[string, Value]> {
    for (const [name, reference] of this.#values) {
      const value = reference.deref();
      if (value !== undefined) yield [name, value];
    }
  }
}
