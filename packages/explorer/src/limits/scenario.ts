import type { Limit } from '@rollgate/core';
import { MS, type Oracle, sum } from '../../../store-conformance/src/algorithms/oracle.js';
import { blockOracleOf, type LimitSpec, limitOf, oracleOf } from '../../../store-conformance/src/algorithms.js';
import { type LimitOnKey, stateIdOf } from '../../../store-conformance/src/model-states.js';
import type { LimitSpecs } from '../../../store-conformance/src/reference-model.js';
import { observe, type StateObserver } from './observed-limit.js';

/** The limits of a check in a history, with a key for each. */
export interface Call {
  readonly specs: LimitSpecs;
  readonly keys: Readonly<Record<string, string>>;
}

/**
 * What to explore: calls that share one store. Calls whose limits share a name and a key are one limit with changed
 * settings.
 */
export interface Scenario {
  readonly name: string;
  readonly calls: readonly Call[];
  /** Whether to explore a store whose leases end, instead of a `MemoryStore`. */
  readonly leasesEnd?: boolean;
  /** Whether histories also give units back: used ones, or also more to the present period. All limits of such a scenario take them. */
  readonly credits?: 'used' | 'beyond';
}

/**
 * One limit of a scenario, or what its `blockFor` closes keys with: its oracle, and what the store has for it, which reports to a
 * `StateObserver`.
 */
export interface ScenarioLimit {
  readonly index: number;
  readonly name: string;
  readonly spec: LimitSpec;
  readonly oracle: Oracle;
  readonly limit: Limit;
  readonly minDifferenceMicros: number;
  /** Whether the limit rejects, no limit with other settings shares its keys, and no credit adds units to it. */
  readonly isAlone: boolean;
  /** What closes the keys of a limit with `blockFor`. */
  readonly block?: ScenarioLimit | undefined;
}

/** A limit of a call, and the index of its state in the scenario. */
export interface ExploredLimit extends LimitOnKey {
  readonly scenarioLimit: ScenarioLimit;
  readonly stateIndex: number;
}

/** A call of a scenario. `stateIndexes` contains the index of each limit's state: one for each name, algorithm and key. */
export interface PreparedCall {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly keys: Readonly<Record<string, string>>;
  /** The limits, and right behind a limit with `blockFor` its block. */
  readonly scenarioLimits: readonly ScenarioLimit[];
  readonly stateIndexes: readonly number[];
  /** Whether a credit adds what exceeds the used units. */
  readonly isBeyond: boolean;
  /** The limits of the scenario, by what the action costs them. */
  readonly withCost: readonly (readonly ExploredLimit[])[];
}

/** An action costs less. */
export const COST_COUNT = 10;

/** A scenario with the limits that it needs. */
export interface PreparedScenario {
  readonly name: string;
  readonly calls: readonly PreparedCall[];
  readonly stateIds: readonly string[];
  /** Whether the calls differ only in their keys. */
  readonly isSymmetric: boolean;
  /** After this time, the windows and buckets of all limits start together again; microseconds. */
  readonly periodMicros: number;
  /** Nothing older than this matters, even when the clock steps back; microseconds. */
  readonly horizonMicros: number;
  readonly leasesEnd: boolean;
  readonly credits: Scenario['credits'];
}

/**
 * How far the clock steps back, once below each highest time; microseconds. A store keeps an expired key at least that
 * long.
 */
export const STEP_BACK_MICROS = MS;

/** Prepares a scenario. The limits report their calls to `observer`. */
export function prepare(
  { name, calls, leasesEnd = false, credits }: Scenario,
  observer: StateObserver,
): PreparedScenario {
  const stateIds: string[] = [];
  const scenarioLimits: ScenarioLimit[] = [];
  const preparedCalls = calls.map(({ specs, keys }): PreparedCall => {
    const own = Object.entries(specs).map(([name, spec]) => {
      const known = scenarioLimits.find((one) => one.name === name && one.spec === spec);
      if (known !== undefined) return known;
      const isAlone =
        spec.enforce !== false &&
        credits !== 'beyond' &&
        calls.every((call) => call.specs[name] === undefined || call.specs[name] === spec);
      const scenarioLimit = prepareLimit(name, spec, isAlone, leasesEnd, scenarioLimits.length, observer);
      scenarioLimits.push(...withBlock(scenarioLimit));
      return scenarioLimit;
    });
    const all = own.flatMap(withBlock);
    const stateIndexes = all.map(({ name, spec }) => indexOf(stateIds, stateIdOf(name, spec, keys)));
    const limits = Object.fromEntries(own.map(({ name, limit }) => [name, limit]));
    const withCost = Array.from({ length: COST_COUNT }, (_, cost) => {
      let before: ExploredLimit | undefined;
      return all.map((scenarioLimit, index): ExploredLimit => {
        const { name, oracle, spec } = scenarioLimit;
        const stateIndex = stateIndexes[index]!;
        const isEnforced = spec.enforce !== false;
        const stateId = stateIds[stateIndex]!;
        const blocks = before?.scenarioLimit.block === scenarioLimit ? { blocksFor: before } : {};
        before = { name, cost, oracle, stateId, isEnforced, stateIndex, scenarioLimit, ...blocks };
        return before;
      });
    });
    return { limits, keys, scenarioLimits: all, stateIndexes, isBeyond: credits === 'beyond', withCost };
  });
  return {
    name,
    calls: preparedCalls,
    stateIds,
    isSymmetric: calls.every(({ specs }) => specs === calls[0]!.specs),
    periodMicros: scenarioLimits.flatMap(({ spec }) => alignedLengthsOf(spec)).reduce(leastCommonMultiple, MS),
    leasesEnd,
    credits,
    horizonMicros: 2 * Math.max(...scenarioLimits.map(({ limit }) => limit.keepMicros)) + 2 * STEP_BACK_MICROS,
  };
}

function prepareLimit(
  name: string,
  spec: LimitSpec,
  isAlone: boolean,
  leasesEnd: boolean,
  index: number,
  observer: StateObserver,
): ScenarioLimit {
  const limit = observe(limitOf(spec), observer, index);
  const { minDifference = 0, blockFor } = spec.options as { minDifference?: number; blockFor?: number };
  const own = { name, spec, oracle: oracleOf(spec, leasesEnd), limit, minDifferenceMicros: minDifference * MS, index };
  if (blockFor === undefined) return { ...own, isAlone };
  const block: ScenarioLimit = {
    ...own,
    index: index + 1,
    spec: { algorithm: 'block', options: { length: blockFor } },
    oracle: blockOracleOf(spec)!,
    limit: limit.blockFor!,
    minDifferenceMicros: 0,
    isAlone: false,
  };
  return { ...own, isAlone, block };
}

/** The limit, and its block if it has one. */
const withBlock = (limit: ScenarioLimit): ScenarioLimit[] => (limit.block ? [limit, limit.block] : [limit]);

/** Returns the index of the name. Adds the name if it is missing. */
function indexOf(names: string[], name: string): number {
  return names.includes(name) ? names.indexOf(name) : names.push(name) - 1;
}

/** The lengths of the windows, buckets and tables that a limit may align to the clock; microseconds. */
function alignedLengthsOf({ options }: LimitSpec): number[] {
  const {
    window = 1,
    buckets = 1,
    lengths = [1],
  } = options as Partial<Record<'window' | 'buckets', number>> & {
    lengths?: readonly number[];
  };
  return [window * MS, Math.ceil((window * MS) / buckets), sum(lengths) * MS];
}

function leastCommonMultiple(one: number, other: number): number {
  let [a, b] = [one, other];
  while (b !== 0) [a, b] = [b, a % b];
  return (one / a) * other;
}
