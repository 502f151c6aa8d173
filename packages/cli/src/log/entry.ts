import { createHash } from 'node:crypto';
import { copyString } from '@rollgate/core/store';

/** A client that is limited. There is one for each key of the log. */
export interface Caller {
  /** At most 205 characters, in its own memory. A long key consists of its start and a hash. */
  readonly key: string;
  /** The caller's index, from 0. */
  readonly index: number;
}

/** A caller of a log and the number of its requests. */
interface CountedCaller extends Caller {
  requests: number;
}

/** A request of the log. */
export interface Entry {
  /** Microseconds since the epoch. */
  readonly micros: number;
  readonly caller: Caller;
  /** Units. */
  readonly cost: number;
  /** The line number in its file, from 1. */
  readonly line: number;
}

/** All callers seen so far. Only this table grows with the log, by one or two numbers per caller. */
export class Callers {
  readonly #byKey = new Map<string, CountedCaller>();

  /** Returns the caller of a request. */
  of(text: string): Caller {
    const key = text.length > MAX_KEY_LENGTH ? shortenKey(text) : text;
    const caller = this.#byKey.get(key) ?? this.#add(key);
    caller.requests += 1;
    return caller;
  }

  /** All callers with the number of their requests. */
  all(): Iterable<Readonly<CountedCaller>> {
    return this.#byKey.values();
  }

  #add(key: string): CountedCaller {
    const caller: CountedCaller = { key: copyString(key), index: this.#byKey.size, requests: 0 };
    this.#byKey.set(caller.key, caller);
    return caller;
  }
}

/** Longer keys are hashed, because a log may have thousands of lines of a megabyte. */
const MAX_KEY_LENGTH = 200;
/** The characters kept of a long key. With the hash it is longer than any short key, so no key imitates another one. */
const KEPT_CHARACTERS = 160;

function shortenKey(text: string): string {
  // As UTF-16: in UTF-8 all lone surrogates are the same.
  const hash = createHash('sha256').update(text, 'utf16le').digest('base64url');
  const start = text.slice(0, KEPT_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
  return `${start}…#${hash}`;
}
