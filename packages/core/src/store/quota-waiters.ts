import { getOrInsert } from '../base/get-or-insert.js';
import { type Keys, keyAt, type Plan } from '../plan/plan.js';
import type { Store } from './store.js';

/** What wakes the callers of this process that wait for quota, by store and by the names of the states that they need. */
const wakesByStore = new WeakMap<object, Map<string, Set<() => void>>>();

/** Names the states of these keys, one for each rule. Stores that share their keys give a state the same name. */
export function namesOf(store: Store, plan: Plan, keys: Keys): readonly string[] {
  return store.namesOf?.(plan, keys) ?? plan.rules.map(({ namespace }, index) => `${namespace}\n${keyAt(keys, index)}`);
}

/** Calls `wake` when this process frees quota of one of the names. Returns a function that ends that. */
export function watchQuota(store: Store, names: readonly string[], wake: () => void): () => void {
  const wakesByName = getOrInsert(wakesByStore, backendOf(store), () => new Map<string, Set<() => void>>());
  for (const name of names) getOrInsert(wakesByName, name, () => new Set()).add(wake);
  return () => {
    for (const name of names) {
      wakesByName.get(name)?.delete(wake);
      if (wakesByName.get(name)?.size === 0) wakesByName.delete(name);
    }
  };
}

/** Wakes the callers of this process that wait for quota of one of the names. Asks for the names only if there are callers. */
export function wakeWaiters(store: Store, names: () => readonly string[] | undefined): void {
  const wakesByName = wakesByStore.get(backendOf(store));
  if (wakesByName === undefined || wakesByName.size === 0) return;
  for (const name of names() ?? []) for (const wake of [...(wakesByName.get(name) ?? [])]) wake();
}

/** Callers on stores with the same backend wait for the same quota. */
function backendOf(store: Store): object {
  return store.backend ?? store;
}
