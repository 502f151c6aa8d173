import { type Clock, type CountingStore, MemoryStore, type Store } from '@rollgate/core';
import { createStore, type Update } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows, writeRows } from '@rollgate/test-support/rows';

/** Stores of `createStore` on databases, each with one defect. */
type MakeBroken = (clock: Clock) => Store & CountingStore;

/** Stores the keys in a column that changes them. */
const createStoreOfColumn =
  (toColumn: (key: string) => string): MakeBroken =>
  (clock) => {
    const rows: Rows = new Map();
    return createStore({
      clock,
      transact(keys, update) {
        const columns = keys.map(toColumn);
        writeRows(rows, columns, update(columns.map((column) => rows.get(column))));
      },
    });
  };

export const ignoresCase = createStoreOfColumn((key) => key.toLowerCase());
export const ignoresAccents = createStoreOfColumn((key) => key.normalize('NFD').replace(/\p{M}/gu, ''));
export const trimsKeys = createStoreOfColumn((key) => key.replace(/ +(?="\]$)/, ''));
export const cutsKeys = createStoreOfColumn((key) => key.slice(0, 255));
export const hasNoEmojis = createStoreOfColumn((key) => key.replace(/\p{So}/gu, '?'));

/** What a transaction reads and writes. */
type Changed = (states: Parameters<Update>[0], changes: ReturnType<Update>) => boolean;

/** A database whose transactions fail while it is impaired, if `fails` is true for them. */
export function createImpairable(fails: Changed) {
  let isImpaired = false;
  const rows: Rows = new Map();
  const make: MakeBroken = (clock) =>
    createStore({
      clock,
      async transact(keys, update) {
        const states = keys.map((key) => rows.get(key));
        const changes = update(states);
        if (isImpaired && fails(states, changes)) throw new Error('The database is impaired');
        writeRows(rows, keys, changes);
      },
    });
  const setImpaired = (is: boolean) => {
    isImpaired = is;
  };
  return { make, setImpaired };
}

/** Its methods of these names read and write without a lock, so other methods run in between. */
export const withoutLock =
  (...methods: readonly (keyof Store)[]): MakeBroken =>
  (clock) => {
    const rows: Rows = new Map();
    let isLocked = true;
    const store = createStore({
      clock,
      async transact(keys, update) {
        const hasLock = isLocked;
        const states = keys.map((key) => rows.get(key));
        if (!hasLock) await flushPromises();
        writeRows(rows, keys, update(states));
      },
    });
    return new Proxy(store, {
      get(_, name) {
        const method: unknown = Reflect.get(store, name, store);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          isLocked = !methods.includes(name as keyof Store);
          const result: unknown = method.apply(store, args);
          isLocked = true;
          return result;
        };
      },
    });
  };

/** Locks rows in the order of the plan. The database detects when two transactions wait for each other. */
export const locksInOrderOfPlan: MakeBroken = (clock) => {
  const rows: Rows = new Map();
  const holders = new Map<string, object>();
  const awaitedKeys = new Map<object, string>();
  const lock = async (transaction: object, key: string) => {
    awaitedKeys.set(transaction, key);
    while (holders.has(key)) {
      let holder = holders.get(key);
      while (holder !== undefined && holder !== transaction) holder = holders.get(awaitedKeys.get(holder) ?? '');
      if (holder === transaction) throw new Error('deadlock detected');
      await flushPromises();
    }
    awaitedKeys.delete(transaction);
    holders.set(key, transaction);
    await flushPromises();
  };
  return createStore({
    clock,
    async transact(keys, update) {
      const transaction = {};
      try {
        for (const key of keys) await lock(transaction, key);
        updateRows(rows, keys, update);
      } finally {
        awaitedKeys.delete(transaction);
        for (const key of keys) if (holders.get(key) === transaction) holders.delete(key);
      }
    },
  });
};

const shared = new WeakMap<Clock, Rows>();

/** Returns the rows that all stores with this clock share. */
function sharedRows(clock: Clock): Rows {
  const rows: Rows = shared.get(clock) ?? new Map();
  shared.set(clock, rows);
  return rows;
}

/** Shares its states, but not its counts. */
export const sharesNoCounts: MakeBroken = (clock) => {
  const rows = sharedRows(clock);
  const memory = new MemoryStore({ clock });
  const transact = (keys: readonly string[], update: Update) => updateRows(rows, keys, update);
  return Object.assign(createStore({ clock, transact }), {
    addCount: (...args: Parameters<CountingStore['addCount']>) => memory.addCount(...args),
  });
};

/** Deletes rows only for itself. */
export const sharesNoDeletions: MakeBroken = (clock) => {
  const rows = sharedRows(clock);
  const deleted = new Set<string>();
  return createStore({
    clock,
    transact(keys, update) {
      const changes = update(keys.map((key) => (deleted.has(key) ? undefined : rows.get(key))));
      for (const [index, key] of keys.entries()) {
        if (changes[index] === null) deleted.add(key);
        else if (changes[index] !== undefined) deleted.delete(key);
      }
      const written = changes.map((change) => change ?? undefined);
      writeRows(rows, keys, written);
    },
  });
};
