import { peek } from '../operations/decide.js';
import type { Plan, Rule } from '../plan/plan.js';
import { isUsed, type KeyPage, type StoredKey, type StoreInspection } from '../store/store.js';
import { isKeyHash } from '../store/stored-key.js';
import type { Awaitable } from '../util/awaitable.js';
import {
  beginStorageKey,
  type CreateStoreOptions,
  type Operation,
  StoredState,
  TransactionStates,
  toStorageKey,
} from './transactions.js';

/** How many states a step reads. */
const MOST_STATES = 100;

/** The storage keys of notes begin with this. No namespace is like it, because each has two colons. */
const NOTES = beginStorageKey(1, '#rollgate:notes', '');

const WRITE: Operation = { isReadOnly: false, freesQuota: false, isAbandoned: false, remainingMs: Infinity };

/** Where a listing goes on: in the limit of which rule, and after which end of a storage key, which the rule and its block share. */
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

  constructor(
    private readonly source: Pick<CreateStoreOptions, 'list' | 'transact'>,
    private readonly toNowMicros: (ofDatabase: number | undefined) => number,
  ) {}

  async listKeys({ rules }: Plan, start: string, next: unknown): Promise<KeyPage> {
    const { index, after } = (next as Cursor | undefined) ?? { index: 0, after: '' };
    const { name } = rules[index]!;
    const own = rules.filter((rule) => rule.name === name);
    const found = new Map<string, Map<Rule, ArrayLike<number>>>();
    const last: string[] = [];
    let latestMicros = 0;
    for (const rule of own) {
      const [root, beginning] = ['', start].map((text) =>
        beginStorageKey(rule.limit.layoutVersion, rule.namespace, text),
      ) as [string, string];
      const { states, nowMicros } = await this.#list(after === '' ? beginning : root + after);
      latestMicros = Math.max(latestMicros, nowMicros);
      const ofRule = states.filter(([storageKey]) => storageKey.startsWith(beginning));
      for (const [storageKey, numbers] of ofRule) {
        const rest = storageKey.slice(root.length);
        found.set(rest, (found.get(rest) ?? new Map<Rule, ArrayLike<number>>()).set(rule, numbers));
      }
      if (ofRule.length === MOST_STATES) last.push(ofRule.at(-1)![0].slice(root.length));
    }
    const end = last.sort()[0];
    const complete = [...found].filter(([rest]) => end === undefined || rest <= end);
    const keys = complete.flatMap(([rest, numbers]) => toStoredKey(own, rest, numbers, start, latestMicros));
    if (end !== undefined) return { keys, next: { index, after: end } satisfies Cursor };
    const following = index + own.length;
    return { keys, next: following < rules.length ? ({ index: following, after: '' } satisfies Cursor) : undefined };
  }

  /** A note is the state of a key: the time until which it is valid, in microseconds, and the UTF-16 code units of the text. */
  writeNote(name: string, text: string, forMs: number): Awaitable<void> {
    const storageKey = `${beginStorageKey(1, '#rollgate:notes', name)}"]`;
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    return this.source.transact(
      [storageKey],
      (_, nowMicros) => {
        const untilMicros = this.toNowMicros(nowMicros) + Math.ceil(forMs) * 1000;
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
    const { states, nowMicros } = await this.source.list!(after, MOST_STATES);
    return { states: [...states], nowMicros: this.toNowMicros(nowMicros) };
  }
}

/** Returns the key of these states of a limit and its block, unless they are like new. */
function toStoredKey(
  rules: readonly Rule[],
  rest: string,
  numbers: ReadonlyMap<Rule, ArrayLike<number>>,
  start: string,
  nowMicros: number,
): StoredKey[] {
  const key = (JSON.parse(`["${rest}`) as [string])[0];
  const isHashed = isKeyHash(key);
  if (isHashed && start !== '') return [];
  const states = new Map(rules.map((rule) => [toStorageKey(rule, key), new StoredState(numbers.get(rule))]));
  const limit = rules[0]!.name;
  const result = peek(new TransactionStates(states, nowMicros), rules, key, 1).limits[limit]!;
  return isUsed(result) ? [{ limit, key, isHashed, result }] : [];
}
