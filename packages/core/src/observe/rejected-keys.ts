import { formatKey, toTextKey } from '../events/events.js';
import type { DecisionEvent } from '../limiter/rate-limiter.js';
import type { Store } from '../store/store.js';
import { toStoredKey } from '../store/stored-key.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { subscribe } from '../util/platform.js';
import { PriorityQueue, type QueueMember } from '../util/priority-queue.js';
import { type Duration, parseInterval } from '../validation/duration.js';
import { validateIntegerBetween, validateOptionNames } from '../validation/validate.js';
import { keepNote, WRITES_PER_EXPIRY } from './keep-writing.js';
import { inspectionOf, storeOf } from './keys-of.js';

/** The options of {@link rejectedKeys}. */
export interface RejectedKeysOptions {
  /**
   * The number of keys that are counted. A further key takes the place of one with the fewest rejections.
   *
   * @defaultValue 1000
   */
  max?: number | undefined;
  /**
   * Where this process writes its most rejected keys from time to time, so that {@link rejectedKeysOf} and
   * `rollgate top --rejected` show those of all processes. A store that fails changes nothing here.
   *
   * @defaultValue the counts stay in this process
   */
  store?: Store | undefined;
  /**
   * The time between two writes, in milliseconds or as text such as `'10s'`.
   *
   * @defaultValue `'5s'`
   */
  every?: Duration | undefined;
}

/** A process writes so many keys. */
const WRITTEN = 100;

/** What a counter writes into a store. */
interface RejectedNote {
  /** The process, whose counters hear of the same rejections. */
  readonly process: string;
  /** The most rejected keys. */
  readonly rejected: readonly RejectedKey[];
  /** The most rejections of any other key. */
  readonly others: number;
}

/** Registered, because all installed versions of this package in a process hear of the same rejections. */
const PROCESS = Symbol.for('@rollgate/core process');

const processId = (): string => {
  const known = globalThis as { [PROCESS]?: string };
  known[PROCESS] ??= crypto.randomUUID();
  return known[PROCESS];
};

/** The last rejection of a key. */
interface Rejected {
  /** The key, with numbers as text; or its hash, as in a store, if it has more than 200 characters. */
  readonly key: string | Readonly<Record<string, string>>;
  /** The limiter's option `name`. */
  readonly limiter: string;
  /** The limits that rejected it last. */
  readonly violated: readonly string[];
}

/** A key that was rejected. */
export interface RejectedKey extends Rejected {
  /** Rejections: never too few, and at most `overcount` too many, which may be those of other keys. */
  readonly count: number;
  /** The most by which `count` is too high. 0 until a process has counted more than `max` keys, or has more than it writes into a store. */
  readonly overcount: number;
}

/** The keys with the most rejections in this process. */
export interface RejectedKeys {
  /**
   * Returns the keys with the most rejections since the start, most first.
   *
   * @param count How many; default 10.
   */
  top(count?: number): RejectedKey[];
  /** Ends the counting. */
  close(): void;
}

/**
 * Counts the rejections of each key of all limiters in this process, in bounded memory. A rejection updates one counter.
 * Every key with more than 1/`max` of all rejections is among the counted ones.
 *
 * The algorithm is Space-Saving: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data
 * Streams", ICDT 2005.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { rejectedKeys } from '@rollgate/core/observe';
 *
 * const rejected = rejectedKeys();
 * const limiter = new RateLimiter({ name: 'logins', limits: '1/1m' });
 * for (let attempt = 0; attempt < 3; attempt++) await limiter.check('ann');
 * rejected.top(); // => [{ key: 'ann', limiter: 'logins', violated: ['default'], count: 2, overcount: 0 }]
 * rejected.close();
 * ```
 */
export function rejectedKeys(options: RejectedKeysOptions = {}): RejectedKeys {
  validateOptionNames('rejectedKeys', options, ['max', 'store', 'every']);
  const { max = 1000, store, every = '5s' } = options;
  const everyMs = parseInterval('every', every);
  const heaviest = new Heaviest<Rejected>(validateIntegerBetween('max', max, 1, 1_000_000));
  const unsubscribe = subscribe('rollgate:rejection', (event) => {
    const { name, key, decision } = event as DecisionEvent;
    const text = formatKey(key);
    // The hash of a long key, so that clients who choose their key cannot fill the memory.
    const stored = toStoredKey(text);
    const counted = stored === text ? toTextKey(key) : stored;
    heaviest.add(JSON.stringify([name, stored]), { key: counted, limiter: name, violated: decision.violated });
  });
  const toText = (): string => {
    const rejected: RejectedKey[] = heaviest.top(WRITTEN + 1);
    const [next] = rejected.splice(WRITTEN);
    const note: RejectedNote = { process: processId(), rejected, others: next?.count ?? heaviest.mostOfOthers };
    return JSON.stringify(note);
  };
  const expiryMs = WRITES_PER_EXPIRY * everyMs;
  const written = store && keepNote(storeOf(store), ['rejected', crypto.randomUUID()], toText, expiryMs);
  return {
    top: (count = 10) => heaviest.top(validateCount(count)),
    close() {
      unsubscribe();
      written?.close();
    },
  };
}

const validateCount = (count: number) => validateIntegerBetween('count', count, 0, Number.MAX_SAFE_INTEGER);

/**
 * Returns the most rejected keys of all processes that run {@link rejectedKeys} with this store, most first. The rejections of a
 * process count from its start until a few writes after its end, and once, however many counters it has.
 *
 * A process writes its 100 most rejected keys. The count of a key includes as many rejections as it may have had in processes in which
 * it is none of these, and `overcount` says how many.
 *
 * @param count How many; default 10.
 * @throws TypeError with the code `ERR_ROLLGATE_UNSUPPORTED_OPERATION` for a `MemoryStore`, whose only process has them already. The
 * promise rejects with the error of a store that fails.
 */
export async function rejectedKeysOf(store: Store, count = 10): Promise<RejectedKey[]> {
  validateCount(count);
  const texts = await inspectionOf(storeOf(store)).readNotes();
  return sumOf(countsOfProcesses(texts.flatMap(parseNote))).slice(0, count);
}

/** What a process has counted: its keys by their IDs, and the most rejections of any other key. */
interface ProcessCounts {
  readonly keys: Map<string, RejectedKey>;
  others: number;
}

/** The rejections that a key has had at least. */
const leastOf = ({ count, overcount }: RejectedKey): number => count - overcount;

/**
 * Combines the counters of each process. They hear of the same rejections, but begin and write at different times, so the one that has
 * heard of the most rejections of a key knows it best.
 */
function countsOfProcesses(notes: readonly RejectedNote[]): ProcessCounts[] {
  const processes = new Map<string, ProcessCounts>();
  for (const { process, rejected, others } of notes) {
    const counts = getOrInsert(processes, process, () => ({ keys: new Map(), others: 0 }));
    counts.others = Math.max(counts.others, others);
    for (const one of rejected) {
      const id = JSON.stringify([one.limiter, one.key]);
      const known = counts.keys.get(id);
      if (known === undefined || leastOf(one) > leastOf(known)) counts.keys.set(id, one);
    }
  }
  return [...processes.values()];
}

/** A key that a process has not written may have as many rejections there as any of its other keys. */
function sumOf(processes: readonly ProcessCounts[]): RejectedKey[] {
  const all = processes.reduce((sum, { others }) => sum + others, 0);
  const sums = new Map<string, RejectedKey>();
  for (const { keys, others } of processes) {
    for (const [id, one] of keys) {
      const { count, overcount } = sums.get(id) ?? { count: all, overcount: all };
      sums.set(id, { ...one, count: count + one.count - others, overcount: overcount + one.overcount - others });
    }
  }
  return [...sums.values()].sort((one, other) => other.count - one.count);
}

/** A store also has other notes, and other programs may write into it. */
function parseNote(text: string): RejectedNote[] {
  try {
    const { process, rejected, others } = JSON.parse(text) as Partial<RejectedNote>;
    if (typeof process !== 'string' || !Number.isSafeInteger(others) || !Array.isArray(rejected)) return [];
    return [{ process, rejected: rejected.filter(isRejectedKey), others: others! }];
  } catch {
    return [];
  }
}

function isRejectedKey(value: unknown): value is RejectedKey {
  const { key, limiter, violated, count, overcount } = Object(value) as Partial<RejectedKey>;
  const isKey = typeof key === 'string' || (typeof key === 'object' && key !== null);
  const isCount = Number.isSafeInteger(count) && Number.isSafeInteger(overcount);
  return isKey && isCount && typeof limiter === 'string' && Array.isArray(violated);
}

/** The counter of one item. Its `priority` is its count. */
interface Counter<Item> extends QueueMember {
  readonly name: string;
  last: Item;
  /** The count that its place had before it. */
  readonly overcount: number;
}

/**
 * The most frequent items of a stream, by counters whose number is bounded (Space-Saving). A new item takes the counter with the
 * least count, and goes on from there, so that no count is ever too low.
 */
class Heaviest<Item extends object> {
  readonly #counters = new Map<string, Counter<Item>>();
  readonly #byCount = new PriorityQueue<Counter<Item>>();

  constructor(private readonly max: number) {}

  /** Counts an item by its name. */
  add(name: string, item: Item): void {
    const counter = this.#counters.get(name) ?? this.#addCounter(name, item);
    counter.last = item;
    this.#byCount.set(counter, counter.priority + 1);
  }

  /** Returns the items with the highest counts, highest first, each with its count and the most by which that is too high. */
  top(count: number): (Item & { readonly count: number; readonly overcount: number })[] {
    const sorted = [...this.#counters.values()].sort((one, other) => other.priority - one.priority);
    return sorted.slice(0, count).map(({ last, priority, overcount }) => ({ ...last, count: priority, overcount }));
  }

  /** The most that an item without a counter may have. */
  get mostOfOthers(): number {
    return this.#counters.size === this.max ? this.#byCount.first!.priority : 0;
  }

  #addCounter(name: string, last: Item): Counter<Item> {
    const overcount = this.mostOfOthers;
    if (this.#counters.size === this.max) {
      const least = this.#byCount.first!;
      this.#counters.delete(least.name);
      this.#byCount.remove(least);
    }
    const counter = { name, last, overcount, priority: overcount, queueIndex: -1 };
    this.#counters.set(name, counter);
    return counter;
  }
}
