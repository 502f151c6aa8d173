import type { StateOwner, States } from '../operations/states.js';
import type { StoredState } from './stored-state.js';

/** The states of one transaction. */
export class TransactionStates implements States {
  readonly #states: ReadonlyMap<string, StoredState>;

  constructor(
    keys: readonly string[],
    states: readonly StoredState[],
    readonly nowMicros: number,
  ) {
    this.#states = new Map(keys.map((key, index) => [key, states[index]!]));
  }

  find(rule: StateOwner, key: string): StoredState {
    return this.#stateOf(rule, key).open(rule.limit, this.nowMicros);
  }

  findLife(rule: StateOwner, key: string, life: number): StoredState | undefined {
    return this.#stateOf(rule, key).openLife(rule.limit, life);
  }

  blank(state: StoredState): void {
    state.clear();
  }

  begin(state: StoredState): void {
    state.clear();
    state.isNew = false;
  }

  save(state: StoredState, expiresMicros: number): void {
    state.write(expiresMicros);
  }

  remove(rule: StateOwner, key: string): void {
    this.#stateOf(rule, key).change = null;
  }

  #stateOf(rule: StateOwner, key: string): StoredState {
    return this.#states.get(toStorageKey(rule, key))!;
  }
}

/**
 * Returns the key under which a database keeps a state. It has the version of the layout, so processes of another version use other
 * keys. JSON keeps the parts apart, whatever characters they contain. All are ASCII, because a database may be unable to store others.
 */
export function toStorageKey({ namespace, limit }: StateOwner, key: string): string {
  return toAscii(JSON.stringify([limit.layoutVersion ?? 1, namespace, key]));
}

/** Returns what the storage keys of all keys with this beginning begin with. */
export function beginStorageKey(layoutVersion = 1, namespace: string, start: string): string {
  return toAscii(JSON.stringify([layoutVersion, namespace, start]).slice(0, -2));
}

const toAscii = (text: string): string => text.replace(BEYOND_ASCII, escapeUnit);

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with the first of them.
const BEYOND_ASCII = /[^\u0000-\u007f]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
