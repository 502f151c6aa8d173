import { getOrInsert } from '../base/get-or-insert.js';
import { type Keys, keyAt, type Plan } from '../plan/plan.js';
import type { Store } from './store.js';

/** A caller that waits for quota, in the queues of all states that it needs. */
export interface QuotaWaiter {
  /** Whether the caller waits for an earlier one, and not for quota. */
  readonly isBehind: boolean;
  /** Whether the caller has not been allowed at once. */
  readonly hasWaited: boolean;
  /**
   * The units of the state that the caller needs before later callers. 0 if another state keeps it, so that they pass.
   */
  unitsOf(state: string): number;
  /** Makes the caller attempt again, because quota may be free. */
  wake(): void;
}

/** The callers of this process that wait for the states of a store, by their names, in the order of arrival. */
export type QuotaQueues = Map<string, Set<QuotaWaiter>>;

/** Limiters on stores with the same backend share their queues. */
const queuesByBackend = new WeakMap<object, QuotaQueues>();

/** Names the states of these keys, one for each rule. Stores that share their keys give a state the same name. */
export function namesOf(store: Store, plan: Plan, keys: Keys): readonly string[] {
  return store.namesOf?.(plan, keys) ?? plan.rules.map(({ namespace }, index) => `${namespace}\n${keyAt(keys, index)}`);
}

/** Callers on stores with the same backend wait for the same quota. */
export const backendOf = (store: Store): object => store.backend ?? store;

export function queuesOf(store: Store): QuotaQueues {
  return getOrInsert(queuesByBackend, backendOf(store), () => new Map());
}

/** Returns the first caller that holds this state. */
export function firstOf(queues: QuotaQueues, state: string): QuotaWaiter | undefined {
  for (const waiter of queues.get(state) ?? []) if (waiter.unitsOf(state) > 0) return waiter;
  return undefined;
}

/** Returns all callers that hold this state, in their order. */
export function holdersOf(queues: QuotaQueues, state: string): QuotaWaiter[] {
  return [...(queues.get(state) ?? [])].filter((waiter) => waiter.unitsOf(state) > 0);
}

/** Returns the units of this state for each of its callers. Empty if none of them waits. */
export function unitsAhead(queues: QuotaQueues, state: string): number[] {
  const holders = holdersOf(queues, state);
  return holders.some(({ hasWaited }) => hasWaited) ? holders.map((waiter) => waiter.unitsOf(state)) : [];
}

/** Wakes the first caller that waits for each of these states. Asks for the names only if there are callers. */
export function wakeWaiters(store: Store, names: () => readonly string[] | undefined): void {
  const queues = queuesOf(store);
  if (queues.size === 0) return;
  for (const name of names() ?? []) firstOf(queues, name)?.wake();
}
