/** Somebody who is limited, once for each key of the log. */
export interface Caller {
  /** In memory of its own: a slice of a line would keep a whole chunk of the log alive. */
  readonly key: string;
  /** Its place among all callers, from 0 on. */
  readonly index: number;
}

/** A request of the log, on its way through the analyses. */
export interface Entry {
  /** Microseconds since the epoch. */
  readonly micros: number;
  readonly caller: Caller;
  /** Units. */
  readonly cost: number;
  /** The line's number in its file, from 1 on. */
  readonly line: number;
}

/** All callers that were seen: the one thing, a number or two for each, that grows with the log and is not given up. */
export class Callers {
  readonly #byKey = new Map<string, Caller>();

  of(key: string): Caller {
    return this.#byKey.get(key) ?? this.#add(key);
  }

  #add(key: string): Caller {
    const caller: Caller = { key: Buffer.from(key, 'utf8').toString('utf8'), index: this.#byKey.size };
    this.#byKey.set(caller.key, caller);
    return caller;
  }
}
