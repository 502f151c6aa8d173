import { createHash } from 'node:crypto';
import { copyString } from '@rollgate/core/store';

/** Somebody who is limited, once for each key of the log. */
export interface Caller {
  /** At most 205 characters, in their own memory. A long key is its start and a hash. */
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

  of(text: string): Caller {
    const key = text.length > LONGEST_KEY ? shortened(text) : text;
    return this.#byKey.get(key) ?? this.#add(key);
  }

  #add(key: string): Caller {
    const caller: Caller = { key: copyString(key), index: this.#byKey.size };
    this.#byKey.set(caller.key, caller);
    return caller;
  }
}

/** Longer keys are hashed: a line may have a megabyte, and a log thousands of such lines. */
const LONGEST_KEY = 200;
/** With the hash it is longer than any key that is kept whole, so nobody can take the name of another caller. */
const SHOWN = 160;

function shortened(text: string): string {
  // As UTF-16: in UTF-8 all lone surrogates are the same.
  const hash = createHash('sha256').update(text, 'utf16le').digest('base64url');
  const start = text.slice(0, SHOWN).replace(/[\ud800-\udbff]$/, '');
  return `${start}…#${hash}`;
}
