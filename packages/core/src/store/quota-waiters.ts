import { type Keys, keyAt, type Plan } from '../plan/plan.js';
import type { Deferred } from '../util/awaitable.js';
import { getOrInsert } from '../util/get-or-insert.js';
import type { Store } from './store.js';

/** A caller that waits for quota, in the queues of the states that it holds. */
export interface QuotaWaiter {
  /** A later caller has a higher one. */
  readonly number: number;
  /** Whether the caller waits for an earlier one, and not for quota. */
  readonly isBehind: boolean;
  /** Whether the caller has not been allowed at once. */
  readonly hasWaited: boolean;
  /** The units that the caller needs, by the states. */
  readonly units: ReadonlyMap<string, number>;
  /** When it resolves, the caller attempts again, because quota may be free. */
  readonly woken: Deferred;
}

/** The callers of this process that hold the states of a store, by their names, in the order of arrival. */
export type QuotaQueues = Map<string, QuotaWaiter[]>;

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

/** Puts a caller in its place in the queue of a state. Returns whether no earlier caller holds the state. */
export function enterQueue(queues: QuotaQueues, state: string, waiter: QuotaWaiter): boolean {
  const queue = getOrInsert(queues, state, () => []);
  let place = queue.length; // Most callers are new.
  while (place > 0 && queue[place - 1]!.number >= waiter.number) place -= 1;
  if (queue[place] !== waiter) queue.splice(place, 0, waiter);
  return place === 0;
}

/** Returns the first caller that still holds the state. */
export function leaveQueue(queues: QuotaQueues, state: string, waiter: QuotaWaiter): QuotaWaiter | undefined {
  const queue = holdersOf(queues, state);
  const place = queue.indexOf(waiter);
  if (place >= 0) queue.splice(place, 1);
  if (queue.length === 0) queues.delete(state);
  return queue[0];
}

/** Returns all callers that hold this state, in their order. */
export function holdersOf(queues: QuotaQueues, state: string): QuotaWaiter[] {
  return queues.get(state) ?? [];
}

/** Returns the units of this state for each of its callers. Empty if none of them waits. */
export function unitsAhead(queues: QuotaQueues, state: string): number[] {
  const holders = holdersOf(queues, state);
  return holders.some(({ hasWaited }) => hasWaited) ? holders.map((waiter) => waiter.units.get(state)!) : [];
}

/** Wakes the first caller that waits for each of these states. Asks for the names only if there are callers. */
export function wakeWaiters(store: Store, names: () => readonly string[] | undefined): void {
  const queues = queuesOf(store);
  if (queues.size === 0) return;
  for (const name of names() ?? []) holdersOf(queues, name)[0]?.woken.resolve();
}

const backends = new WeakMap<object, Map<string, object>>();

/**
 * Returns the `backend` of stores that keep their keys in this table. It is the same object for the same client and table.
 *
 * @param client The client or the database.
 */
export function backendOfTable(client: object, table: string): object {
  const tables = getOrInsert(backends, client, () => new Map<string, object>());
  return getOrInsert(tables, table, () => ({ client, table }));
}
