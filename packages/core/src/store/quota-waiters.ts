import { holdsSlots } from '../limits/limit.js';
import { type Keys, keyAt, type Plan } from '../plan/plan.js';
import type { Store } from './store.js';

/** Callers that wait for quota, by store and by the names of the slots and states that they need. */
const waiters = new WeakMap<object, Map<string, Set<() => void>>>();

/** The names of the slots of these keys, for {@link watchNames} and {@link wakeWaiters}. */
export function slotNames({ rules }: Plan, keys: Keys): string[] {
  return rules.flatMap(({ limit, namespace }, index) =>
    holdsSlots(limit) ? [`${namespace}\n${keyAt(keys, index)}`] : [],
  );
}

/** Calls `wake` when this process frees quota of one of the names. Returns a function that ends that. */
export function watchNames(store: object, names: readonly string[], wake: () => void): () => void {
  const all = waiters.get(store) ?? new Map<string, Set<() => void>>();
  waiters.set(store, all);
  for (const name of names) {
    const callbacks = all.get(name) ?? new Set();
    all.set(name, callbacks.add(wake));
  }
  return () => {
    for (const name of names) {
      all.get(name)?.delete(wake);
      if (all.get(name)?.size === 0) all.delete(name);
    }
  };
}

/** Callers on stores with the same backend wait for the same quota. */
export const backendOf = (store: Store): object => store.backend ?? store;

/** Whether a caller in this process waits for quota in the store. */
export const hasWaiters = (store: object): boolean => (waiters.get(store)?.size ?? 0) > 0;

/** Wakes the callers in this process that wait for one of the names. */
export function wakeWaiters(store: object, names: readonly string[]): void {
  const all = waiters.get(store);
  if (all === undefined) return;
  for (const name of names) for (const wake of [...(all.get(name) ?? [])]) wake();
}

/** Wakes the callers in this process that wait for one of the states. Calls `namesOf` only if there are callers. */
export function wakeStateWaiters(store: Store, namesOf: () => readonly string[] | undefined): void {
  const backend = backendOf(store);
  if (hasWaiters(backend)) wakeWaiters(backend, namesOf() ?? []);
}
