import type { StateLifecycle } from '../limits/limit.js';
import type { KeyState, StateOwner, States } from '../operations/states.js';

/** The state of a key as a store keeps it. */
export interface StoredNumbers {
  /**
   * The state, for `update` to read again. Rollgate never changes this array. All numbers are finite, so JSON can hold
   * them: `JSON.stringify([...numbers])`.
   */
  readonly numbers: Float64Array;
  /** When the store may drop the state, in milliseconds of its clock. */
  readonly dropAtMs: number;
}

/**
 * The state of one key during one transaction. Its first number identifies the life of the key, so that a receipt of an
 * earlier life refunds nothing. The state of the algorithm follows.
 */
export class StoredState implements KeyState {
  numbers: Float64Array;
  readonly start = 1;
  isNew = true;
  /** What the store must write: the numbers, `null` to delete the key, or nothing. */
  change: StoredNumbers | null | undefined;
  /** How long the limit that reads the state keeps it. */
  keepMicros = 0;

  constructor(numbers: ArrayLike<number> | undefined) {
    this.numbers = new Float64Array(numbers ?? []);
  }

  /** `NaN` while the key has no state. It equals no life. */
  get life(): number {
    return this.numbers[0] ?? Number.NaN;
  }

  get size(): number {
    return this.numbers.length - this.start;
  }

  resize(size: number): void {
    const { numbers } = this;
    this.numbers = new Float64Array(this.start + size);
    this.numbers.set(numbers.subarray(0, this.numbers.length));
  }
}

/** A clock that steps back by less than a minute finds the same state, so stores keep an expired one that long. */
const GRACE_MICROS = 60_000_000;

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
    const { limit } = rule;
    const state = this.#stateOf(rule, key);
    state.isNew = state.numbers.length === 0;
    if (state.isNew) return state;
    if (isIntact(state, limit)) {
      state.isNew = limit.expiresMicros(state) <= this.nowMicros;
      if (state.isNew || limit.isPlausible(state, this.nowMicros)) return state;
    }
    state.isNew = true;
    state.change = null; // Otherwise, a damaged or implausible state would stay.
    return state;
  }

  findLife(rule: StateOwner, key: string, life: number): StoredState | undefined {
    const state = this.#stateOf(rule, key);
    return state.life === life && isIntact(state, rule.limit) ? state : undefined;
  }

  blank(state: StoredState, limit: StateLifecycle): void {
    state.numbers = new Float64Array(state.start + limit.stateSize);
    state.numbers[0] = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER); // No other process knows the earlier lives.
    limit.create(state);
  }

  begin(state: StoredState, { limit }: StateOwner): void {
    this.blank(state, limit);
    state.isNew = false;
  }

  save(state: StoredState, expiresMicros: number): void {
    const graceMicros = Math.min(state.keepMicros, GRACE_MICROS);
    // A database needs a finite time, even for a state that never expires.
    const dropAtMs = Math.min(expiresMicros + graceMicros, Number.MAX_SAFE_INTEGER) / 1000;
    state.change = expiresMicros === -Infinity ? null : { numbers: state.numbers, dropAtMs };
  }

  remove(rule: StateOwner, key: string): void {
    this.#stateOf(rule, key).change = null;
  }

  #stateOf(rule: StateOwner, key: string): StoredState {
    const state = this.#states.get(toStorageKey(rule, key))!;
    state.keepMicros = rule.limit.keepMicros;
    return state;
  }
}

/** Whether a limit wrote the state. A damaged file or another program may have changed it. */
function isIntact(state: StoredState, limit: StateLifecycle): boolean {
  return state.numbers.every(Number.isFinite) && (limit.isIntact?.(state) ?? state.size >= limit.stateSize);
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
