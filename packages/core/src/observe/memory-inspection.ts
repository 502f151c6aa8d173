import type { MemoryStore } from '../memory/memory-store.js';
import { peek } from '../operations/decide.js';
import type { States } from '../operations/states.js';
import type { Plan } from '../plan/plan.js';
import type { KeyPage, StoredKey } from '../store/capabilities.js';
import { isUsed } from '../store/is-used.js';
import { isKeyHash } from '../store/stored-key.js';
import { readMicros } from '../time/clock.js';

/** How many keys a step looks at. */
const MOST_KEYS = 500;

/** Like `listKeys` of `StoreInspection`, for a `MemoryStore`. It is here so that apps which never list keys do not contain it. */
export function listKeysInMemory(store: MemoryStore, { rules }: Plan, start: string, next: unknown): KeyPage {
  // A `Map` may change during an iteration, which then skips what is gone and adds what is new.
  const cells = (next as ReturnType<MemoryStore['cells']> | undefined) ?? store.cells();
  const nowMicros = readMicros(store.clock);
  const keys: StoredKey[] = [];
  for (let step = 0; step < MOST_KEYS; step++) {
    const { value, done } = cells.next();
    if (done) return { keys, next: undefined };
    const [key, cell] = value;
    const rule = rules.find(({ namespace }) => namespace === cell.namespace.name);
    const isHashed = isKeyHash(key);
    if (rule === undefined || !(isHashed ? start === '' : key.startsWith(start))) continue;
    if (rule.limit.expiresMicros(cell) <= nowMicros || !rule.limit.isPlausible(cell, nowMicros)) continue;
    cell.isNew = false;
    const states: Pick<States, 'nowMicros' | 'find'> = { nowMicros, find: () => cell };
    const result = peek(states as States, [rule], key, 1).limits[rule.name]!;
    if (isUsed(result)) keys.push({ limit: rule.name, key, isHashed, result });
  }
  return { keys, next: cells };
}
