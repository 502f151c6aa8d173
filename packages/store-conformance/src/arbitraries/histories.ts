import fc from 'fast-check';
import type { TokenFractions } from '../algorithms/algorithm.js';
import { MS } from '../algorithms/oracle.js';
import type { LimitSpecs } from '../reference-model.js';

/** How far time advances in microseconds, or an offset from the time that the last decision returned. */
export type Step = number | { readonly due: -1 | 0 | 1 };

export type KeyNames = readonly [string, string, string];

/** The cost of an action for all limits, or for the first, the second and the third one. */
export type Cost = number | readonly [number, number, number];

/** The costs that a settlement sets for up to three limits. `undefined` keeps what the check recorded. */
export type SettledCost = number | readonly (number | undefined)[];

/**
 * An operation after a step of time. A refund, a release or a settlement goes `back` that many checks. `renew` renews all
 * open leases of a limiter. A change passes new objects, or those of equal limits before, which a store may know.
 */
export type Command =
  | { readonly kind: 'check' | 'peek'; readonly step: Step; readonly keys: KeyNames; readonly cost: Cost }
  | { readonly kind: 'refund'; readonly step: Step; readonly back: number }
  | { readonly kind: 'release'; readonly step: Step; readonly back: number }
  | { readonly kind: 'renew'; readonly step: Step }
  | { readonly kind: 'settle'; readonly step: Step; readonly back: number; readonly settled: SettledCost }
  | { readonly kind: 'charge'; readonly step: Step; readonly keys: KeyNames; readonly cost: Cost }
  | {
      readonly kind: 'credit';
      readonly step: Step;
      readonly keys: KeyNames;
      readonly units: number;
      readonly beyond: boolean;
    }
  | { readonly kind: 'reset'; readonly step: Step; readonly keys: KeyNames }
  | { readonly kind: 'change'; readonly step: Step; readonly limits: LimitSpecs; readonly isNew: boolean };

export interface History {
  readonly limits: LimitSpecs;
  readonly commands: readonly Command[];
}

const shortStep: fc.Arbitrary<Step> = fc.integer({ min: 0, max: 4 }).map((ms) => ms * MS);
const dueStep: fc.Arbitrary<Step> = fc.record({ due: fc.constantFrom(-1, 0, 1) });

/** Steps that often end at a boundary of a window, or one microsecond before or after it. */
export const forwardSteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: shortStep },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 12 * MS + 1 }) },
  { weight: 3, arbitrary: dueStep },
  { weight: 2, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constantFrom(1e12, 40 * 24 * 3600 * 1000 * MS) },
);

/** Like {@link forwards}, and also back in time. */
export const anySteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: forwardSteps },
  { weight: 2, arbitrary: fc.integer({ min: -15 * MS, max: 0 }) },
  { weight: 2, arbitrary: fc.integer({ min: -30, max: 0 }).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constant(-1e12) },
);

/** Mostly one of the newest checks, so that histories often refund the later of two first. */
const back = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, fc.nat());
const zeroOr = (step: fc.Arbitrary<Step>) => fc.oneof(fc.constant(0), step);

const ownCost = fc.integer({ min: 0, max: 4 });

const cost: fc.Arbitrary<Cost> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 7 }) },
  { weight: 1, arbitrary: fc.tuple(ownCost, ownCost, ownCost) },
);

/** Often more than is used. */
const units = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.constantFrom(9, 1000, 2 ** 53 - 1));

const settledCost = fc.integer({ min: 0, max: 9 });

const settled: fc.Arbitrary<SettledCost> = fc.oneof(
  settledCost,
  fc.array(fc.option(settledCost, { nil: undefined }), { minLength: 3, maxLength: 3 }),
);

/**
 * Histories of all operations, with such limits and keys. `changes` is the weight of changes of the limits, `slots`
 * that of operations on slots, and `credits` that of credits.
 */
export function histories(
  limitsWith: (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs>,
  names: readonly string[],
  step: fc.Arbitrary<Step>,
  { changes = 1, slots = 0, credits = 0 } = {},
): fc.Arbitrary<History> {
  const key = fc.constantFrom(...names);
  const keys = fc.tuple(key, key, key);
  return fc.constantFrom<TokenFractions[]>(1, 3, 7).chain((fractions) => {
    const limits = limitsWith(fractions);
    const command: fc.Arbitrary<Command> = fc.oneof(
      { weight: 10, arbitrary: fc.record({ kind: fc.constant('check'), step, keys, cost }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('peek'), step, keys, cost }) },
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('refund'), step: zeroOr(step), back }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('settle'), step: zeroOr(step), back, settled }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('charge'), step, keys, cost }) },
      { weight: 3 * slots, arbitrary: fc.record({ kind: fc.constant('release'), step: zeroOr(step), back }) },
      { weight: 4 * slots, arbitrary: fc.record({ kind: fc.constant('renew'), step }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset'), step, keys }) },
      {
        weight: 4 * credits,
        arbitrary: fc.record({ kind: fc.constant('credit'), step: zeroOr(step), keys, units, beyond: fc.boolean() }),
      },
      { weight: changes, arbitrary: fc.record({ kind: fc.constant('change'), step, limits, isNew: fc.boolean() }) },
    );
    return fc.record({ limits, commands: fc.array(command, { maxLength: 60, size: 'max' }) });
  });
}

/**
 * Histories of checks with a cost of 1 on one key, with few refunds and changes of the limits. Stores may have a faster
 * way to decide such checks, so the operations that prevent it are rare.
 */
export function plainHistories(limits: fc.Arbitrary<LimitSpecs>): fc.Arbitrary<History> {
  const keys = fc.constant<KeyNames>(['ann', 'ann', 'ann']);
  const step = fc.oneof({ weight: 5, arbitrary: shortStep }, { weight: 1, arbitrary: dueStep });
  const command: fc.Arbitrary<Command> = fc.oneof(
    { weight: 20, arbitrary: fc.record({ kind: fc.constant('check'), step, keys, cost: fc.constant(1) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refund'), step, back }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('change'), step, limits, isNew: fc.constant(false) }) },
  );
  return fc.record({ limits, commands: fc.array(command, { maxLength: 100, size: 'max' }) });
}
