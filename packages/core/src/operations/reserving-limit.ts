import type { RecordedHit } from '../decision/receipt.js';
import type { LeasedLimit, Limit, State } from '../limits/limit.js';
import { recordOverdrafts } from './decide.js';
import type { Place, States } from './states.js';

/** What a settlement, a refund or a release does with the state of a key. */
export interface Settlement extends Place {
  /** Changes the states of the operation. It may run again after a conflict in a database. */
  run(states: States): void;
}

/** A limit whose checks reserve units until they are settled. */
export type ReservingLimit = LeasedLimit & {
  /** Prepares a settlement, a refund or a release of a hit. Returns `undefined` if there is nothing to do. */
  settle(hit: RecordedHit, cost: number, isRelease?: boolean): Settlement | undefined;
};

/**
 * A limit whose charges and settlements set what a server has reported. They change the state even without a cost, and may free
 * units.
 */
export type ReportingLimit = ReservingLimit & {
  /** The reported numbers. */
  readonly reported: object;
  /** The limit of checks, which sets no numbers. */
  readonly quota: Limit;
};

/** Whether a settlement by this limit changes the state in any case. */
export function hasReport(limit: Limit): limit is ReportingLimit {
  return (limit as Partial<ReportingLimit>).reported !== undefined;
}

/** Whether a check of the limit reserves units. */
export function reservesUnits(limit: Limit): limit is ReservingLimit {
  return limit.renew !== undefined && !limit.holdsSlots;
}

/**
 * Settles what a check has reserved.
 *
 * @param settleIn Settles it in the life of the key that has the reservation. Returns the units that are still to be recorded.
 */
export function settleReservation(
  { rule, key, life, cost: reserved, isSpent }: RecordedHit,
  settled: number,
  settleIn: (state: State, nowMicros: number) => number,
): Settlement {
  return {
    rule,
    key,
    run(states) {
      const state = states.find(rule, key);
      const isGone = reserved === 0 || state.isNew || state.life !== life;
      const units = isGone ? settled - (isSpent ? reserved : 0) : settleIn(state, states.nowMicros);
      if (!isGone) states.save(state, rule.limit.expiresMicros(state));
      if (units > 0) recordOverdrafts(states, [{ rule, key, units }]);
    },
  };
}
