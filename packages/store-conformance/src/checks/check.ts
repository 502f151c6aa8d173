import { randomUUID } from 'node:crypto';
import { type Awaitable, type Clock, type Limits, RateLimiter, type Store } from '@rollgate/core';
import { type AlgorithmName, algorithmNames } from '../algorithms.js';
import { TestClock } from '../test-clock.js';

/** Makes a store that goes by this clock. */
export type MakeStore = (clock: Clock) => Awaitable<Store>;

/** What a store is held against, and how hard. */
export interface CheckOptions {
  /** How many random histories each property tries; default 2000. */
  readonly runs?: number | undefined;
  /** How many actions a long run asks for; default 20,000. */
  readonly longRun?: number | undefined;
  /** Seed of the random histories, an integer, to replay a run; default a random one for each property. */
  readonly seed?: number | undefined;
  /** The algorithms that the store supports; default all. Checks of the others are left out. */
  readonly algorithms?: readonly AlgorithmName[] | undefined;
  /** Whether two stores that `makeStore` made for one clock are on the same data; default `false`. */
  readonly shared?: boolean | undefined;
  /** Whether the store counts for a `RollingCounter`, having `addCount`; default `true`. */
  readonly rollingCounter?: boolean | undefined;
  /** Releases what `makeStore` opened; default the store's own `close`. */
  readonly closeStore?: ((store: Store) => Awaitable<void>) | undefined;
}

/** One thing that a store has to hold. */
export interface Check {
  readonly name: string;
  /** Why it is not asked of this store; such a check is not to be run. */
  readonly leftOut?: string;
  /** Rejects when the store does not hold it. */
  readonly run: () => Promise<void>;
}

/** What a check works on: a store of its own. */
export interface CheckContext {
  readonly clock: TestClock;
  readonly store: Store;
  /** How fast-check runs a property. */
  readonly random: { readonly numRuns: number; readonly seed?: number };
  readonly longRun: number;
  /** Those that the store supports. */
  readonly algorithms: readonly AlgorithmName[];
  /** Opens one more store for the same clock. */
  openStore(): Promise<Store>;
}

/** A check before it is known of which store. */
export interface Requirement {
  readonly name: string;
  readonly needs?: 'shared' | 'rollingCounter';
  /** The store has to support one of these; default any. */
  readonly among?: readonly AlgorithmName[];
  readonly verify: (context: CheckContext) => Promise<void>;
}

/** A network may be slow; what is asked here is whether a store is right. */
export const TIMEOUT = '30s';

/** A limiter with keys that no other one has. */
export function makeLimiter<Given extends Limits>(
  { store }: Pick<CheckContext, 'store'>,
  limits: Given,
  prefix = `run-${randomUUID()}`,
): RateLimiter<Given> {
  return new RateLimiter({ limits, store, prefix, timeout: TIMEOUT });
}

/** The requirement as a check of the stores that `makeStore` makes. */
export function toCheck(requirement: Requirement, makeStore: MakeStore, options: CheckOptions): Check {
  const { runs = 2000, longRun = 20_000, seed, shared = false, rollingCounter = true } = options;
  const random = { numRuns: runs, ...(seed !== undefined && { seed }) };
  const { algorithms = algorithmNames } = options;
  const { name, needs, among = algorithmNames, verify } = requirement;
  const run = () => withContext(makeStore, options, (context) => verify({ ...context, random, longRun, algorithms }));
  if (needs !== undefined && !{ shared, rollingCounter }[needs]) {
    return { name, run, leftOut: `\`${needs}\` is false` };
  }
  if (!among.some((algorithm) => algorithms.includes(algorithm))) {
    return { name, run, leftOut: `\`algorithms\` does not include ${among.join(' or ')}` };
  }
  return { name, run };
}

/** @throws TypeError when `algorithms` is empty or names one that does not exist. */
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
  use: (context: Omit<CheckContext, 'random' | 'longRun' | 'algorithms'>) => Promise<void>,
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
