import type { CheckOptions } from '../limiter/rate-limiter-options.js';
import { isMemoryStore, type MemoryStore } from '../memory/memory-store.js';
import { toStoredCall } from '../plan/constant-limits.js';
import type { Plan, Rule } from '../plan/plan.js';
import type { WrappingStore } from '../store/decide-constants.js';
import { isUsed, type KeyPage, type Store, type StoredKey, type StoreInspection } from '../store/store.js';
import { isKeyHash } from '../store/stored-key.js';
import type { Awaitable } from '../util/awaitable.js';
import { afterPoll } from '../util/platform.js';
import { unsupported } from '../validation/errors.js';
import { validateBoolean, validateOptionNames, validateString } from '../validation/validate.js';

/** The part of a `RateLimiter` that functions of this entry point use. */
export interface Inspected {
  internals(options?: Pick<CheckOptions, 'limits'>): { readonly plan: Plan; readonly store: Store };
}

/** The options of {@link keysOf}. */
export interface KeysOfOptions extends Pick<CheckOptions, 'limits'> {
  /**
   * What the keys begin with. Keys of more than 200 UTF-16 code units are left out, because stores have only their hashes.
   *
   * @defaultValue `''`: all keys
   */
  prefix?: string | undefined;
  /**
   * Whether a key may come more than once. The iteration then takes no memory for what it has reported, which it otherwise needs with
   * a `RedisStore`, because SCAN may return a key twice.
   *
   * @defaultValue `false`
   */
  repeats?: boolean | undefined;
}

/**
 * Lists the keys of a limiter that have a state, in no particular order, and what a peek of each would return. It comes from the
 * store, so keys of other processes are included. A key comes once for each limit in which it has used units or is closed. Keys of
 * which one of both begins or ends during the iteration may be missing or come twice.
 *
 * Each step reads a bounded number of keys, and changes nothing. Stop the iteration at any time.
 *
 * @throws TypeError naming the invalid option, or with the code `ERR_ROLLGATE_UNSUPPORTED_OPERATION` for a store that cannot list
 * its keys. The iteration rejects with the error of a store that fails, and ends. Call `keysOf` again to start over.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { keysOf } from '@rollgate/core/observe';
 *
 * const limiter = new RateLimiter({ limits: '10/1m' });
 * await limiter.check('user:1');
 * await limiter.check('user:2', { cost: 3 });
 * const remaining: Record<string, number> = {};
 * for await (const { key, result } of keysOf(limiter, { prefix: 'user:' })) remaining[key] = result.remaining;
 * remaining; // => { 'user:1': 9, 'user:2': 7 }
 * ```
 */
export function keysOf(limiter: Inspected, options: KeysOfOptions = {}): AsyncGenerator<StoredKey, void, undefined> {
  validateOptionNames('keysOf', options, ['prefix', 'limits', 'repeats']);
  const { prefix = '', limits, repeats = false } = options;
  const { plan, store } = limiter.internals({ limits });
  const stored = toStoredCall(plan, '', 1); // Limits of 0 and `Infinity` have no states.
  validateString('prefix', prefix);
  validateBoolean('repeats', repeats);
  return iterate(listerOf(storeOf(store)), stored?.plan, prefix, repeats ? undefined : new Set());
}

/** Returns the store that has the states. */
export function storeOf(store: Store): Store {
  return (store as Partial<WrappingStore>).wrapped ?? store;
}

/** @throws TypeError for a store that cannot be asked, such as a `MemoryStore`. */
export function inspectionOf({ inspection }: Store): StoreInspection {
  if (inspection === undefined) throw unsupported('inspection');
  return inspection;
}

type ListKeys = (plan: Plan, start: string, next: unknown) => Awaitable<KeyPage>;

function listerOf(store: Store): ListKeys {
  if (isMemoryStore(store)) return (...call) => listKeysInMemory(store, ...call);
  const inspection = inspectionOf(store);
  return (...call) => inspection.listKeys(...call);
}

/** @param seen The keys so far, if none may come again. */
async function* iterate(
  listKeys: ListKeys,
  plan: Plan | undefined,
  start: string,
  seen: Set<string> | undefined,
): AsyncGenerator<StoredKey, void, undefined> {
  if (plan === undefined) return;
  let next: unknown;
  do {
    const page = await listKeys(plan, start, next);
    for (const found of page.keys) {
      if (page.mayRepeat && seen !== undefined) {
        const name = `${found.limit} ${found.key}`;
        if (seen.has(name)) continue;
        seen.add(name);
      }
      yield found;
    }
    next = page.next;
    // Promises alone would hold up everything else in this process, because keys in memory take no time.
    if (next !== undefined) await new Promise<void>(afterPoll);
  } while (next !== undefined);
}

/** How many keys a step looks at. */
const MOST_KEYS = 500;

/** Like `listKeys` of `StoreInspection`, for a `MemoryStore`. It is here so that apps which never list keys do not contain it. */
function listKeysInMemory(store: MemoryStore, { rules }: Plan, start: string, next: unknown): KeyPage {
  // A `Map` may change during an iteration, which then skips what is gone and adds what is new.
  const cells = (next as ReturnType<MemoryStore['cells']> | undefined) ?? store.cells();
  const keys: StoredKey[] = [];
  for (let step = 0; step < MOST_KEYS; step++) {
    const { value, done } = cells.next();
    if (done) return { keys, next: undefined };
    const [key, cell] = value;
    const rule = rules.find(({ namespace }) => namespace === cell.namespace.name);
    const isHashed = isKeyHash(key);
    if (rule === undefined || !(isHashed ? start === '' : key.startsWith(start))) continue;
    const resultOf = (some: readonly Rule[]) => store.peekStored(some, key).limits[rule.name]!;
    const own = rules.filter(({ name }) => name === rule.name);
    const first = resultOf(own.slice(0, 1));
    // The block of a limit lists the keys that have no state in the limit itself.
    if (isUsed(first) !== (rule === own[0])) continue;
    const result = own.length === 1 ? first : resultOf(own);
    if (isUsed(result)) keys.push({ limit: rule.name, key, isHashed, result });
  }
  return { keys, next: cells };
}
