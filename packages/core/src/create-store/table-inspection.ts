import { peek } from '../operations/decide.js';
import type { Plan, Rule } from '../plan/plan.js';
import { isUsed, type KeyPage, type StoredKey, type StoreInspection } from '../store/capabilities.js';
import { isKeyHash } from '../store/stored-key.js';
import type { Awaitable } from '../util/awaitable.js';
import type { CreateStoreOptions, Operation } from './create-store-options.js';
import { StoredState } from './stored-state.js';
import { beginStorageKey, TransactionStates } from './transaction-states.js';

/** How many states a step reads. */
const MOST_STATES = 100;

/** The storage keys of notes begin with this. No namespace is like it, because each has two colons. */
const NOTES = beginStorageKey(1, '#rollgate:notes', '');

const WRITE: Operation = { isReadOnly: false, freesQuota: false, isAbandoned: false, remainingMs: Infinity };

/** Where a listing goes on: in which rule, after which storage key. */
interface Cursor {
  readonly index: number;
  readonly after: string;
}

/**
 * Lists the keys of a store by the option `list`. It takes no lock, and reads states without a transaction of `transact`, which could
 * be one of checks that lock what they read.
 */
export class TableInspection implements StoreInspection {
  readonly options = {};
  readonly #options: CreateStoreOptions;
  readonly #toNowMicros: (ofDatabase: number | undefined) => number;

  constructor(options: CreateStoreOptions, toNowMicros: (ofDatabase: number | undefined) => number) {
    this.#options = options;
    this.#toNowMicros = toNowMicros;
  }

  async listKeys({ rules }: Plan, start: string, next: unknown): Promise<KeyPage> {
    const { index, after } = (next as Cursor | undefined) ?? { index: 0, after: '' };
    const rule = rules[index]!;
    const beginning = beginStorageKey(rule.limit.layoutVersion, rule.namespace, start);
    const { states, nowMicros } = await this.#list(after || beginning);
    const found = states.filter(([storageKey]) => storageKey.startsWith(beginning));
    const keys = found.flatMap(([storageKey, numbers]) => toStoredKey(rule, storageKey, numbers, start, nowMicros));
    if (found.length === MOST_STATES) return { keys, next: { index, after: found.at(-1)![0] } satisfies Cursor };
    return { keys, next: index + 1 < rules.length ? ({ index: index + 1, after: '' } satisfies Cursor) : undefined };
  }

  /** A note is the state of a key: the time until which it is valid, in microseconds, and the UTF-16 code units of the text. */
  writeNote(name: string, text: string, forMs: number): Awaitable<void> {
    const storageKey = `${beginStorageKey(1, '#rollgate:notes', name)}"]`;
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    return this.#options.transact(
      [storageKey],
      (_, nowMicros) => {
        const untilMicros = this.#toNowMicros(nowMicros) + Math.ceil(forMs) * 1000;
        return [{ numbers: Float64Array.from([untilMicros, ...units]), dropAtMs: untilMicros / 1000 }];
      },
      WRITE,
    );
  }

  async readNotes(): Promise<string[]> {
    const notes: string[] = [];
    for (let after = NOTES; ; ) {
      const { states, nowMicros } = await this.#list(after);
      const found = states.filter(([storageKey]) => storageKey.startsWith(NOTES));
      for (const [, [untilMicros, ...units]] of found.map(([key, numbers]) => [key, Array.from(numbers)] as const)) {
        if (untilMicros! > nowMicros) notes.push(units.map((unit) => String.fromCharCode(unit)).join(''));
      }
      if (found.length < MOST_STATES) return notes;
      after = found.at(-1)![0];
    }
  }

  async #list(after: string): Promise<{ states: (readonly [string, ArrayLike<number>])[]; nowMicros: number }> {
    const { states, nowMicros } = await this.#options.list!(after, MOST_STATES);
    return { states: [...states], nowMicros: this.#toNowMicros(nowMicros) };
  }
}

/** Returns the key of a state, unless the state is like new. */
function toStoredKey(
  rule: Rule,
  storageKey: string,
  numbers: ArrayLike<number>,
  start: string,
  nowMicros: number,
): StoredKey[] {
  const [, , key] = JSON.parse(storageKey) as [number, string, string];
  const isHashed = isKeyHash(key);
  if (isHashed && start !== '') return [];
  const states = new TransactionStates([storageKey], [new StoredState(numbers)], nowMicros);
  const result = peek(states, [rule], key, 1).limits[rule.name]!;
  return isUsed(result) ? [{ limit: rule.name, key, isHashed, result }] : [];
}
