import type { Limit } from '@rollgate/core';
import { type LimitSpec, limitOf, oracleOf } from '../algorithms.js';
import { MS, type Oracle } from '../oracles/oracle.js';
import type { Specs } from '../reference-model.js';
import { ObservedLimit, type StateObserver } from './observed-limit.js';

/** The limits of a check in a history, with a key for each. */
export interface Call {
  readonly specs: Specs;
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
}

/** One limit of a scenario: the oracle that judges it, and the shipped limit, watched. */
export interface Ruling {
  readonly index: number;
  readonly name: string;
  readonly spec: LimitSpec;
  readonly oracle: Oracle;
  readonly limit: Limit;
  readonly minDifferenceMicros: number;
  /** Whether no other limit shares its keys, as a limit with changed settings would. */
  readonly isAlone: boolean;
}

/** A call, ready to be made. `places` numbers the keys of its limits: one number is one key of one limit's name. */
export interface ReadyCall {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly keys: Readonly<Record<string, string>>;
  readonly rulings: readonly Ruling[];
  readonly places: readonly number[];
}

/** A scenario, ready to be explored. */
export interface Ready {
  readonly name: string;
  readonly calls: readonly ReadyCall[];
  readonly placeCount: number;
  /** The windows and buckets of all limits repeat after this time; microseconds. */
  readonly periodMicros: number;
  /** Nothing older than this can matter, even when the clock steps back; microseconds. */
  readonly horizonMicros: number;
  readonly leasesEnd: boolean;
}

/**
 * How far the clock steps back, once below each highest time; microseconds. A store keeps an expired key at least that
 * long.
 */
export const BACK_MICROS = MS;

/** Prepares a scenario. The limits report their calls to `watch`. */
export function prepare({ name, calls, leasesEnd = false }: Scenario, watch: StateObserver): Ready {
  const places: string[] = [];
  const rulings: Ruling[] = [];
  const ready = calls.map(({ specs, keys }): ReadyCall => {
    const own = Object.entries(specs).map(([rule, spec]) => {
      const known = rulings.find((ruling) => ruling.name === rule && ruling.spec === spec);
      if (known !== undefined) return known;
      const tap = new ObservedLimit(limitOf(spec), watch, rulings.length, rule);
      const { minDifference = 0 } = spec.options as { minDifference?: number };
      const oracle = oracleOf(spec, leasesEnd);
      const isAlone = calls.every((call) => call.specs[rule] === undefined || call.specs[rule] === spec);
      const ruling = {
        isAlone,
        index: rulings.length,
        name: rule,
        spec,
        oracle,
        limit: tap,
        minDifferenceMicros: minDifference * MS,
      };
      rulings.push(ruling);
      return ruling;
    });
    const at = own.map((ruling) => numberOf(places, `${ruling.name} ${keys[ruling.name]} ${ruling.spec.algorithm}`));
    const limits = Object.fromEntries(own.map((ruling) => [ruling.name, ruling.limit]));
    return { limits, keys, rulings: own, places: at };
  });
  return {
    name,
    calls: ready,
    placeCount: places.length,
    periodMicros: rulings.flatMap(({ spec }) => gridOf(spec)).reduce(leastCommonMultiple, MS),
    leasesEnd,
    horizonMicros: 2 * Math.max(...rulings.map(({ limit }) => limit.keepMicros)) + 2 * BACK_MICROS,
  };
}

function numberOf(names: string[], name: string): number {
  return names.includes(name) ? names.indexOf(name) : names.push(name) - 1;
}

/** The widths into which a limit may cut the clock; microseconds. */
function gridOf({ options }: LimitSpec): number[] {
  const { window = 1, buckets = 1 } = options as { window?: number; buckets?: number };
  return [window * MS, Math.ceil((window * MS) / buckets)];
}

function leastCommonMultiple(one: number, other: number): number {
  let [a, b] = [one, other];
  while (b !== 0) [a, b] = [b, a % b];
  return (one / a) * other;
}
