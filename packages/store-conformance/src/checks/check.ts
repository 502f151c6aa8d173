import { randomUUID } from 'node:crypto';
import { type Awaitable, type Clock, type Decision, type Limits, RateLimiter, type Store } from '@rollgate/core';
import { type AlgorithmName, algorithmNames, endsLeases } from '../algorithms.js';
import { LeaseControl } from '../lease-control.js';
import { TestClock } from '../test-clock.js';

/** Creates a store that uses this clock. */
export type MakeStore = (clock: Clock) => Awaitable<Store>;

/** Which checks to run, and how many histories. */
export interface CheckOptions {
  /**
   * The number of random histories per property.
   *
   * @defaultValue 2000
   */
  readonly runs?: number | undefined;
  /**
   * The number of actions of a long run.
   *
   * @defaultValue 20,000
   */
  readonly longRun?: number | undefined;
  /**
   * The seed of the random histories, an integer. Set it to replay a run.
   *
   * @defaultValue a random seed for each property
   */
  readonly seed?: number | undefined;
  /**
   * The algorithms that the store supports. Checks of other algorithms are left out.
   *
   * @defaultValue all algorithms
   */
  readonly algorithms?: readonly AlgorithmName[] | undefined;
  /**
   * Whether two stores that `makeStore` creates for one clock share their data.
   *
   * @defaultValue `false`
   */
  readonly shared?: boolean | undefined;
  /**
   * Whether the store has `addCount`, the method for a `RollingCounter`.
   *
   * @defaultValue `true`
   */
  readonly rollingCounter?: boolean | undefined;
  /**
   * Makes the storage reject all writes, as a read-only replica does, or accept them again.
   *
   * @defaultValue none, so the checks of a read-only storage are left out
   */
  readonly setReadOnly?: ((isReadOnly: boolean) => Awaitable<unknown>) | undefined;
  /**
   * Makes the storage reject writes that need memory, or accept them again.
   *
   * @defaultValue none, so the checks of a full storage are left out
   */
  readonly setFull?: ((isFull: boolean) => Awaitable<unknown>) | undefined;
  /**
   * Closes a store that `makeStore` created.
   *
   * @defaultValue calls the store's `close`
   */
  readonly closeStore?: ((store: Store) => Awaitable<void>) | undefined;
}

/** One requirement that a store must meet. */
export interface Check {
  /** The name of the test. */
  readonly name: string;
  /** Why the check does not apply to this store. Do not run such a check. */
  readonly leftOut?: string;
  /** Rejects if the store does not meet the requirement. */
  readonly run: () => Promise<void>;
}

/** The store of one check, and the settings of the run. */
export interface CheckContext {
  readonly clock: TestClock;
  readonly store: Store;
  /** The parameters of fast-check. */
  readonly random: { readonly numRuns: number; readonly seed?: number };
  readonly longRun: number;
  /** The algorithms that the store supports. */
  readonly algorithms: readonly AlgorithmName[];
  /** The options of the same names. They do nothing if the store's tests do not pass them. */
  readonly setReadOnly: NonNullable<CheckOptions['setReadOnly']>;
  readonly setFull: NonNullable<CheckOptions['setFull']>;
  /** Creates another store with the same clock. */
  openStore(): Promise<Store>;
}

/** A check that is not yet bound to a store. */
export interface Requirement {
  readonly name: string;
  /** The options that must be set. */
  readonly needs?: readonly ('shared' | 'rollingCounter' | 'setReadOnly' | 'setFull')[];
  /** The store must support one of these algorithms. Without it, any will do. */
  readonly among?: readonly AlgorithmName[];
  readonly verify: (context: CheckContext) => Promise<void>;
}

/** Long enough for a slow network, because these checks test correctness only. */
export const TIMEOUT = '30s';

/** Creates a limiter that shares no keys with others. It renews leases only when its {@link LeaseControl} does. */
export function createLimiter<Given extends Limits>(
  { store }: Pick<CheckContext, 'store'>,
  limits: Given,
  prefix = `run-${randomUUID()}`,
): RateLimiter<Given> {
  if (!endsLeases(store)) return new RateLimiter({ limits, store, prefix, timeout: TIMEOUT });
  const control = new LeaseControl(store);
  const onLeaseLost = ({ decision }: { decision: Decision }) => control.addLoss(decision);
  const limiter = new RateLimiter({ limits, store: control.createStore(), prefix, timeout: TIMEOUT, onLeaseLost });
  control.attach(limiter);
  return limiter;
}

/** Binds the requirement to the stores that `makeStore` creates. */
export function toCheck(requirement: Requirement, makeStore: MakeStore, options: CheckOptions): Check {
  const { runs = 2000, longRun = 20_000, seed, shared = false, rollingCounter = true } = options;
  const { algorithms = algorithmNames, setReadOnly, setFull } = options;
  const random = { numRuns: runs, ...(seed !== undefined && { seed }) };
  const own = { random, longRun, algorithms, setReadOnly: setReadOnly ?? (() => {}), setFull: setFull ?? (() => {}) };
  const { name, needs = [], among = algorithmNames, verify } = requirement;
  const run = () => withContext(makeStore, options, (context) => verify({ ...context, ...own }));
  const given = { shared, rollingCounter, setReadOnly, setFull };
  const missing = needs.find((option) => given[option] === undefined || given[option] === false);
  if (missing !== undefined) return { name, run, leftOut: `\`${missing}\` is ${given[missing] ?? 'not set'}` };
  if (!among.some((algorithm) => algorithms.includes(algorithm))) {
    return { name, run, leftOut: `\`algorithms\` does not include ${among.join(' or ')}` };
  }
  return { name, run };
}

/** @throws TypeError if `algorithms` is empty or contains an unknown name. */
export function checkAlgorithms({ algorithms = algorithmNames }: CheckOptions): void {
  const unknown = algorithms.find((name) => !algorithmNames.includes(name));
  if (algorithms.length > 0 && unknown === undefined) return;
  throw new TypeError(
    `Expected \`algorithms\` to name at least one of ${algorithmNames.join(', ')}, got ${unknown ?? 'none'}`,
  );
}

async function withContext(
  makeStore: MakeStore,
  { closeStore = (store) => store.close?.() }: CheckOptions,
  use: (context: Pick<CheckContext, 'clock' | 'store' | 'openStore'>) => Promise<void>,
): Promise<void> {
  const clock = new TestClock();
  const opened: Store[] = [];
  const openStore = async () => {
    const store = await makeStore(clock);
    opened.push(store);
    return store;
  };
  try {
    await use({ clock, store: await openStore(), openStore });
  } finally {
    for (const store of opened) await closeStore(store);
  }
}
