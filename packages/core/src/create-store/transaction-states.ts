import type { StateOwner, States } from '../engine/states.js';
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

  find(rule: StateOwner, key: string): StoredState | undefined {
    return this.#stateOf(rule, key).find(rule.limit, this.nowMicros);
  }

  findLife(rule: StateOwner, key: string, life: number): StoredState | undefined {
    const state = this.#stateOf(rule, key);
    return state.life === life ? state : undefined;
  }

  create(rule: StateOwner, key: string): StoredState {
    return this.#stateOf(rule, key).create(rule.limit);
  }

  save(state: StoredState, limit: StateOwner['limit']): void {
    state.write(limit);
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
  return JSON.stringify([limit.layoutVersion ?? 1, namespace, key]).replace(BEYOND_ASCII, escapeUnit);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with the first of them.
const BEYOND_ASCII = /[^\u0000-\u007f]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
