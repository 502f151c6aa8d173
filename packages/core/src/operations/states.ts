import type { State, StateLifecycle } from '../limits/limit.js';
import { type Keys, keyAt } from '../plan/plan.js';
import type { Awaitable } from '../util/awaitable.js';

/** Whose states they are: those of a rule, or of a rolling counter. */
export interface StateOwner {
  readonly namespace: string;
  readonly limit: StateLifecycle;
}

/** Where a store keeps the state of one key. */
export interface Place {
  /** The rule whose state it is. */
  readonly rule: StateOwner;
  /** The key as stores keep it, which is the hash of a long one. */
  readonly key: string;
}

/** A state that a store has found or begun. It is valid until the end of its operation. */
export interface KeyState extends State {
  /** Whether the key has no state, or none that still counts. Then it has no numbers until `begin` or `blank`. */
  readonly isNew: boolean;
  /** Identifies this life of the key, from its first record to its reset or expiry. No other life has the same number. */
  readonly life: number;
}

/** The states of one operation. It calls nothing else of a store while it runs. */
export interface States {
  /** The only time of the operation. */
  readonly nowMicros: number;
  /** Returns the state of a key. It is new if there is none or if it has expired. Removes an implausible state. */
  find(rule: StateOwner, key: string): KeyState;
  /** Returns the state of a key that is still in this life, even if the state has expired. */
  findLife(rule: StateOwner, key: string, life: number): KeyState | undefined;
  /** Gives a new state the numbers of a key without hits, for a test. The key still has no state. */
  blank(state: KeyState, limit: StateLifecycle): void;
  /** Starts the life of a new state, which `find` has returned for this key. Makes room only by states that the operation has not found. */
  begin(state: KeyState, rule: StateOwner, key: string): void;
  /** Keeps a state that has changed until it expires. Removes a state that is like new, which expires at `-Infinity`. */
  save(state: KeyState, expiresMicros: number): void;
  /** Removes the state of a key, if it has one. */
  remove(rule: StateOwner, key: string): void;
}

/** What an operation does to states: nothing, it records units, or it may free quota that callers wait for. */
export type Effect = 'none' | 'records' | 'frees';

/** What an operation returns: the result, or maybe a promise of it if it need not be synchronous. */
export type Returned<Sync extends boolean, Result> = Sync extends true ? Result : Awaitable<Result>;

/** What the operations need of a store: a `MemoryStore` on its own memory, and `createStore` on a database. */
export interface StatePort<Sync extends boolean = false> {
  /**
   * Runs an operation on the states of these places, in one atomic step. Places may be equal. The operation may run again, for
   * example after a conflict in a database. Only its last run counts, and starts from the states as they are then.
   */
  run<Result>(places: readonly Place[], effect: Effect, operate: (states: States) => Result): Returned<Sync, Result>;
}

/** Returns the place of each rule's state. */
export function toPlaces<Owner extends StateOwner>(
  rules: readonly Owner[],
  keys: Keys,
): { rule: Owner; key: string }[] {
  return rules.map((rule, index) => ({ rule, key: keyAt(keys, index) }));
}
