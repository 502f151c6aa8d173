import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Awaitable, RateLimiter, rollingWindow, type Store, StoreError } from '@rollgate/core';

/** The key whose state or data a {@link Fault} of one key breaks. */
const FAULTY_KEY = 'faulty';
const OTHER_KEYS = ['ann', 'bob', 'cleo'];
const LIMIT = 12;
/** How many checks of each key arrive together while the fault lasts. */
const TOGETHER = 3;
/**
 * Short for faults of all keys, some of which are silent. A check that takes longer on a busy machine counts as failed, and may be
 * recorded. While other faults last, no check of another key may fail, so the timeout is longer than any machine is busy.
 */
const TIMEOUTS = { all: '1s', key: '1m', none: '1m' } as const;
const POLL_MS = 20;
/** A store works again within ten seconds of its server. On a busy machine, each poll takes longer, and so may the store. */
const POLLS = 10_000 / POLL_MS;

/** Something that goes wrong between a store and its data, or in them. */
export interface Fault {
  /** What goes wrong, for the messages of failed checks. */
  readonly name: string;
  /**
   * Which keys may fail while it lasts: all of them, only the key whose data it breaks, or none, because such data are dropped.
   *
   * @defaultValue `'all'`
   */
  readonly affects?: 'all' | 'key' | 'none';
  /** Whether the server loses its data, so that all quotas start again. */
  readonly losesData?: boolean;
  /**
   * Starts the fault. A fault of one key breaks the data whose name contains this text. No other data have it.
   *
   * @returns a function that ends the fault.
   */
  readonly start: (nameOfKey: string) => Awaitable<() => Awaitable<unknown>>;
}

/** The checks of one store. */
class Caller {
  readonly #limiter: RateLimiter;
  /** The allowed actions of each key, and the failures of the present part of the test. */
  readonly allowed = new Map<string, number>();
  failures: [key: string, error: StoreError][] = [];

  constructor(
    readonly name: string,
    store: Store,
    readonly prefix: string,
    affects: keyof typeof TIMEOUTS,
  ) {
    const limits = rollingWindow({ limit: LIMIT, window: '1h' });
    this.#limiter = new RateLimiter({ limits, store, prefix, timeout: TIMEOUTS[affects], onStoreError: 'throw' });
  }

  /** Checks a key. Resolves to whether the store has decided. */
  async check(key: string): Promise<boolean | 'rejected'> {
    try {
      const { allowed } = await this.#limiter.check(key);
      if (allowed) this.allowed.set(key, (this.allowed.get(key) ?? 0) + 1);
      assert.ok((this.allowed.get(key) ?? 0) <= LIMIT, `${this.name} allows more than the limit for '${key}'`);
      return allowed || 'rejected';
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.failures.push([key, error]);
      return false;
    }
  }

  /** Checks the key until the store decides. */
  async recover(key: string): Promise<void> {
    for (let poll = 0; poll < POLLS; poll++) {
      if ((await this.check(key)) !== false) return;
      await delay(POLL_MS);
    }
    const [, error] = this.failures.at(-1)!;
    throw new Error(`${this.name} does not decide about '${key}' within ten seconds`, { cause: error });
  }

  /** Checks the key until its quota is used up. */
  async exhaust(key: string): Promise<void> {
    for (let failures = 0; failures < POLLS; ) {
      const result = await this.check(key);
      if (result === 'rejected') return;
      if (result) continue;
      failures += 1;
      // While a store counts as failed, checks of it fail at once.
      await delay(POLL_MS);
    }
    throw new Error(`${this.name} never rejects '${key}'`);
  }
}

/**
 * Expects stores to survive a fault of their server, or of one key's data, all of them at the same time. Every check settles, the checks of
 * keys without a fault are decided, damaged data count for nothing, no more than the limit is ever allowed, and the stores decide again
 * within ten seconds of the end of the fault. An error that nobody catches makes the test runner fail.
 *
 * @param stores The stores by name, such as one for each client.
 */
export async function verifyFault(stores: Readonly<Record<string, Store>>, fault: Fault): Promise<void> {
  const { affects = 'all', losesData = false, start } = fault;
  const id = randomUUID();
  const callers = Object.entries(stores).map(
    ([name, store], index) => new Caller(name, store, `run-${id}-${index}`, affects),
  );
  const faulty = `${FAULTY_KEY}-${id}`;
  const keys = [...OTHER_KEYS, faulty];
  const ofAll = (run: (caller: Caller, key: string) => Promise<unknown>) =>
    Promise.all(callers.flatMap((caller) => keys.map((key) => run(caller, key))));

  await ofAll((caller, key) => caller.recover(key));
  for (const caller of callers) caller.failures = [];
  const end = await start(faulty);
  // What a fault of one key has broken is dropped, here or at its end.
  if (affects !== 'all') for (const caller of callers) caller.allowed.delete(faulty);
  try {
    await Promise.all(Array.from({ length: TOGETHER }, () => ofAll((caller, key) => caller.check(key))));
    for (const { name, failures } of callers) {
      const failure = failures.find(([key]) => affects === 'none' || (affects === 'key' && key !== faulty));
      if (failure === undefined) continue;
      throw new Error(`${name} does not decide about '${failure[0]}'`, { cause: failure[1] });
    }
  } finally {
    await end();
  }
  if (affects === 'key') for (const caller of callers) caller.allowed.delete(faulty);
  if (losesData) for (const caller of callers) caller.allowed.clear();
  await ofAll((caller, key) => caller.recover(key));
  await ofAll((caller, key) => caller.exhaust(key));
  if (affects !== 'none') return;
  for (const { name, allowed, failures } of callers) {
    if (failures.length > 0) continue; // Of a busy machine. A failed check may be recorded.
    const about = `${name} counts what damaged data say about '${faulty}'`;
    assert.equal(allowed.get(faulty), LIMIT, about);
  }
}
