import assert from 'node:assert/strict';
import type { Limit, Store } from '@rollgate/core';
import type { Admission } from './algorithms/admissions.js';
import type { Algorithm, Burst } from './algorithms/algorithm.js';
import { blockAlgorithm, blockOracle } from './algorithms/block.js';
import { bucketedWindowAlgorithm } from './algorithms/bucketed-window.js';
import { calendarWindowAlgorithm } from './algorithms/calendar-window.js';
import { concurrencyAlgorithm } from './algorithms/concurrency.js';
import { fixedWindowAlgorithm } from './algorithms/fixed-window.js';
import { leakyBucketAlgorithm } from './algorithms/leaky-bucket.js';
import { MS, type Oracle } from './algorithms/oracle.js';
import { reportedQuotaAlgorithm } from './algorithms/reported-quota.js';
import { rollingWindowAlgorithm } from './algorithms/rolling-window.js';
import { slidingWindowCounterAlgorithm } from './algorithms/sliding-window-counter.js';
import { tokenBucketAlgorithm } from './algorithms/token-bucket.js';
import type { VectorStep } from './vector.js';

/** All algorithms, by the name of the function of `@rollgate/core` that creates the limit. */
const algorithms = {
  rollingWindow: rollingWindowAlgorithm,
  fixedWindow: fixedWindowAlgorithm,
  slidingWindowCounter: slidingWindowCounterAlgorithm,
  tokenBucket: tokenBucketAlgorithm,
  leakyBucket: leakyBucketAlgorithm,
  bucketedWindow: bucketedWindowAlgorithm,
  calendarWindow: calendarWindowAlgorithm,
  block: blockAlgorithm,
  reportedQuota: reportedQuotaAlgorithm,
  concurrency: concurrencyAlgorithm,
};

/** The name of the function of `@rollgate/core` that creates the limit. */
export type AlgorithmName = keyof typeof algorithms;

/** The options of the function, with durations in milliseconds. */
export type OptionsOf<Name extends AlgorithmName> =
  (typeof algorithms)[Name] extends Algorithm<infer Options> ? Options : never;

type SpecOf<Name extends AlgorithmName> = {
  readonly algorithm: Name;
  readonly options: OptionsOf<Name>;
  /** `false` for a limit that never rejects. */
  readonly enforce?: false;
};

/** A limit as data. */
export type LimitSpec<Name extends AlgorithmName = AlgorithmName> = { [One in Name]: SpecOf<One> }[Name];

export const algorithmNames = Object.keys(algorithms) as AlgorithmName[];

/** What the suite knows of an algorithm. Its options are those of the specs that {@link toSpec} returns. */
export const algorithmOf = (name: AlgorithmName) => algorithms[name] as Algorithm<unknown>;

/** A limit of this algorithm with these options. */
export const toSpec = (algorithm: AlgorithmName, options: unknown): LimitSpec => ({ algorithm, options }) as LimitSpec;

/** The algorithms that count units. A block has no quota, and that of `reportedQuota` is the server's. */
export const withQuotas = (names: readonly AlgorithmName[]): AlgorithmName[] =>
  names.filter((name) => algorithmOf(name).minute !== undefined);

/** Whether checks of this algorithm always take leases. */
export const takesLeases = (name: AlgorithmName): boolean => algorithmOf(name).hasLeases === true;

/** Whether allowed actions of this algorithm may start later. */
export const hasQueue = (name: AlgorithmName): boolean => algorithmOf(name).queues === true;

/** Whether a limit of this spec may have the option `enforce`. */
export function mayReport({ algorithm, options }: LimitSpec): boolean {
  const { lease, blockFor } = options as { lease?: number; blockFor?: number };
  return quotaNames.includes(algorithm) && !hasQueue(algorithm) && lease === undefined && blockFor === undefined;
}

/** Whether recorded units of a limit of this spec can be given back, or added to its period. */
export function mayCredit(spec: LimitSpec, beyond = false): boolean {
  return oracleOf(spec, false)[beyond ? 'extend' : 'credit'] !== undefined;
}

/** All algorithms that count units. */
export const quotaNames: readonly AlgorithmName[] = withQuotas(algorithmNames);

/** The algorithms whose limits take the option `blockFor`. */
export const closingNames = quotaNames.filter((name) => !takesLeases(name));

/** A limit of an algorithm that counts units. Its units stay used for at least a minute. */
export const minuteLimit = (algorithm: AlgorithmName, quota: number): LimitSpec =>
  toSpec(algorithm, algorithmOf(algorithm).minute!(quota));

const DURATIONS = ['window', 'every', 'interval', 'bucket', 'lease', 'maxAge', 'retryAfter', 'blockFor'];

/** Creates the limit of this spec. Its durations are text, because text never warns about short ones. */
export function limitOf({ algorithm, options, enforce }: LimitSpec): Limit {
  const entries = Object.entries(options);
  const given = entries.map(([name, value]) => [name, DURATIONS.includes(name) ? `${value}ms` : value]);
  return algorithmOf(algorithm).create({ ...Object.fromEntries(given), ...(enforce === false && { enforce }) });
}

export const limitsOf = (specs: Readonly<Record<string, LimitSpec>>): Readonly<Record<string, Limit>> =>
  Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, limitOf(spec)]));

const oracles = [new WeakMap<LimitSpec, Oracle>(), new WeakMap<LimitSpec, Oracle>()] as const;

/**
 * The oracle of the limit of this spec. Oracles hold no state, so each spec needs only one.
 *
 * @param leasesEnd Whether leases in the store end.
 */
export function oracleOf(spec: LimitSpec, leasesEnd: boolean): Oracle {
  const known = oracles[leasesEnd ? 1 : 0];
  const oracle = known.get(spec) ?? algorithmOf(spec.algorithm).oracle(spec.options, leasesEnd);
  known.set(spec, oracle);
  return oracle;
}

/** What closes the keys of a limit with `blockFor`. */
export function blockOracleOf({ options }: LimitSpec): Oracle | undefined {
  const { blockFor } = options as { blockFor?: number };
  return blockFor === undefined ? undefined : blockOracle({ length: blockFor });
}

/** Whether leases in this store end. In the memory of the process that holds them, they do not. */
export const endsLeases = (store: Pick<Store, 'renew'>): boolean => store.renew !== undefined;

/** Throws if the limit allowed more than it guarantees. Times must not decrease. */
export function assertGuarantee({ algorithm, options }: LimitSpec, admitted: readonly Admission[]): void {
  algorithmOf(algorithm).assertGuarantee?.(options, admitted);
  const { minDifference = 0 } = options as { minDifference?: number | undefined };
  for (const [index, { at }] of admitted.entries()) {
    const gap = (admitted[index + 1]?.at ?? Infinity) - at;
    assert.ok(gap >= minDifference * MS, `Closer to each other than \`minDifference\`: ${gap} µs`);
  }
}

/** The most that a limit allows in a window, and traffic that attains it. */
export interface WorstBurst {
  /** The algorithm and its settings. */
  readonly limit: LimitSpec;
  /** Whether an action counts when it is allowed or when it leaves the queue. */
  readonly counted: 'allowed' | 'leaving';
  /** The length of the window `(t - windowMs, t]`. */
  readonly windowMs: number;
  /** The most units in any such window. No traffic gets more. */
  readonly units: number;
  /** The guarantee for any settings. `W` is the window, and `µs` is a microsecond. */
  readonly formula: string;
  /** Actions that attain it, with their time in milliseconds, cost and number. All of them are allowed. */
  readonly traffic: Burst<unknown>['traffic'];
}

const ofEach = <Entry>(entriesOf: (name: AlgorithmName) => readonly Entry[]) =>
  Object.fromEntries(algorithmNames.map((name) => [name, entriesOf(name)])) as {
    [Name in AlgorithmName]: readonly Entry[];
  };

/**
 * The worst bursts of each algorithm with a limit of ten per second. `concurrency` has none, because a slot that is
 * released at once can be taken again at once. So it allows any number of actions in a window.
 */
export const worstBursts: Readonly<Record<AlgorithmName, readonly WorstBurst[]>> = ofEach((name) =>
  (algorithmOf(name).worstBursts ?? []).map(({ options, ...burst }) => ({
    limit: toSpec(name, options),
    windowMs: 1000,
    ...burst,
  })),
);

/** A history of one key under one limit, with the expected result of each step. */
export interface Vector<Name extends AlgorithmName = AlgorithmName> {
  /** What the history shows. */
  readonly title: string;
  /** The algorithm and its settings. */
  readonly limit: LimitSpec<Name>;
  /** The steps, in the order of their times. */
  readonly steps: readonly VectorStep<OptionsOf<Name>>[];
  /** Whether the history is only for stores whose leases end. In memory, they do not. */
  readonly leasesEnd?: true;
}

/** Histories of each algorithm, and what is to be decided in them, as data. */
export const vectors = ofEach((name) =>
  Object.entries(algorithmOf(name).vectors).map(([title, [{ leasesEnd, enforce, ...options }, ...steps]]) => {
    const limit = toSpec(name, options);
    return { title, limit: enforce === false ? { ...limit, enforce } : limit, steps, ...(leasesEnd && { leasesEnd }) };
  }),
) as unknown as { readonly [Name in AlgorithmName]: readonly Vector<Name>[] };
