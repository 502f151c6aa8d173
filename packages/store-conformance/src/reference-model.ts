import type { Decision, LimitDecision } from '@rollgate/core';
import { type Costs, costAt, type SettledCosts } from '@rollgate/core/store';
import { MS } from './algorithms/oracle.js';
import { type LimitSpec, oracleOf } from './algorithms.js';
import { combineDecisions } from './expected-decision.js';
import { allowsAt, figuresOf, hasEstimatedWait, reasonOf, waitOf } from './model-figures.js';
import {
  hasLease,
  hasSlots,
  type LimitOnKey,
  ModelStates,
  type Recorded,
  reservesUnits,
  stateIdOf,
} from './model-states.js';

/** Limits by name. */
export type LimitSpecs = Readonly<Record<string, LimitSpec>>;

/** The records of a check for each limit, or for those that record rejected attempts. */
export type ModelReceipt = readonly Recorded[];

/**
 * The model of a store: an oracle decides each limit on its key. The model searches for each wait by trying times.
 */
export class ReferenceModel {
  readonly #states = new ModelStates();
  readonly #leasesEnd: boolean;

  /** @param leasesEnd Whether leases in the store end. */
  constructor(leasesEnd = false) {
    this.#leasesEnd = leasesEnd;
  }

  /** Decides at `now`, in microseconds. With `records` as `check` does, without as `peek`. */
  check(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs, now: number, records: boolean) {
    const limits = this.#limitsOnKeys(specs, keys, costs);
    for (const one of limits) this.#states.dropImplausible(one, now);
    const allowedByLimit = limits.map((one) => one.cost === 0 || allowsAt(this.#states, one, now));
    const allowed = allowedByLimit.every(Boolean);
    // Before anything is recorded, because a recorded attempt may fill the window.
    const reasons = limits.map((one, index) => (allowedByLimit[index] ? undefined : reasonOf(this.#states, one, now)));
    const delays = limits.map(({ oracle, stateId, cost }) =>
      allowed && cost > 0 ? oracle.delay(this.#states.read(oracle, stateId, now), now) : 0,
    );
    const recording = limits.filter(
      ({ oracle, cost }) => records && cost > 0 && (allowed || oracle.countRejected) && !oracle.testsOnly,
    );
    const recorded = new Map(recording.map((one) => [one, this.#record(one, now)]));
    const receipt: ModelReceipt = limits.flatMap((one): Recorded | Recorded[] => {
      return recorded.get(one) ?? (allowed ? [{ ...one, life: undefined, receipt: undefined, at: now }] : []);
    });
    const results = limits.map((one, index): [string, LimitDecision] => [
      one.name,
      {
        allowed: allowedByLimit[index]!,
        ...figuresOf(this.#states, one, now),
        ...this.#usageOf(one, now, records),
        retryAfterMs:
          allowed || one.cost === 0 || (allowedByLimit[index] && hasSlots(one))
            ? 0
            : waitOf(this.#states, one, now) / MS,
        delayMs: delays[index]! / MS,
        ...(allowedByLimit[index]! ? {} : { reason: reasons[index]! }),
        ...(!allowedByLimit[index] && hasEstimatedWait(this.#states, one, now) ? { retryIsEstimate: true } : {}),
      },
    ]);
    const charged = limits.filter(({ cost }) => cost > 0).map(({ name }) => name);
    const decision: Decision = combineDecisions(Object.fromEntries(results), charged);
    return { decision, receipt };
  }

  /** What the result of a limit reports of its used units and its period. */
  #usageOf({ oracle, stateId }: LimitOnKey, now: number, isCheck: boolean): Partial<LimitDecision> {
    const state = this.#states.read(oracle, stateId, now);
    const usage = isCheck && oracle.period === undefined ? undefined : oracle.usage?.(state, now);
    return { ...usage, ...oracle.period?.(state, now) };
  }

  /** Refunds at `now` the records in lives that have not ended. */
  refund(receipts: ModelReceipt, now: number): void {
    this.settle(receipts, 0, now);
  }

  /** Refunds what exceeds the settled costs, in lives that have not ended, and records what is missing. */
  settle(receipts: ModelReceipt, costs: SettledCosts, now: number): void {
    for (const recorded of receipts) {
      const { life, oracle, receipt, cost } = recorded;
      if (reservesUnits(recorded) || oracle.reserving?.report !== undefined) {
        this.#settleReservation(recorded, costs, now);
        continue;
      }
      const settled = (typeof costs === 'number' ? costs : costs[recorded.name]) ?? cost;
      if (settled > cost) this.#recordOverdraft({ ...recorded, cost: settled - cost }, now);
      else if (settled < cost && this.#states.isNewestLife(recorded))
        life!.state = oracle.refund(life!.state, receipt, now, settled);
      if (hasSlots(recorded)) recorded.cost = Math.min(cost, settled);
    }
  }

  /** Frees the slots of these records, and spends what they have reserved. */
  release(receipts: ModelReceipt, now: number): void {
    for (const one of receipts.filter(hasLease)) {
      if (reservesUnits(one)) this.#settleReservation(one, one.cost, now);
      else this.settle([one], 0, now);
      one.isReleased = true;
    }
  }

  /** Renews the leases of these records. Returns whether all of them still have their slots. */
  renew(receipts: ModelReceipt, now: number): boolean {
    const renewed = receipts.filter((one) => hasLease(one) && one.cost > 0).map((one) => this.#renewOne(one, now));
    return renewed.every(Boolean);
  }

  /** Records without deciding. Returns the decision of a peek right after. */
  charge(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs, now: number): Decision {
    for (const one of this.#limitsOnKeys(specs, keys, costs)) if (one.cost > 0) this.#recordOverdraft(one, now);
    return this.check(specs, keys, 1, now, false).decision;
  }

  reset(specs: LimitSpecs, keys: Readonly<Record<string, string>>): void {
    for (const [name, spec] of Object.entries(specs)) this.#states.delete(stateIdOf(name, spec, keys));
  }

  #renewOne(recorded: Recorded, now: number): boolean {
    const { oracle, stateId, receipt, cost } = recorded;
    this.#states.dropImplausible(recorded, now);
    // A reservation in an earlier life has nothing to lose.
    if (reservesUnits(recorded) && !this.#states.isInItsLife(recorded, now)) return true;
    const state = oracle.renew!(this.#states.read(oracle, stateId, now), receipt, now, cost);
    if (state === undefined) return false;
    recorded.life = this.#states.change(stateId, oracle, state, now);
    return true;
  }

  #settleReservation(recorded: Recorded, costs: SettledCosts, now: number): void {
    const { oracle, name, life, receipt, cost, isReleased } = recorded;
    const settled = (typeof costs === 'number' ? costs : costs[name]) ?? cost;
    this.#states.dropImplausible(recorded, now);
    if (oracle.reserving!.report !== undefined) {
      this.#report(recorded, now);
      return;
    }
    let owed = isReleased ? settled - cost : settled;
    if (this.#states.isInItsLife(recorded, now)) {
      const [state, left = owed] = oracle.reserving!.settle(life!.state, receipt, now, settled);
      life!.state = state;
      owed = left;
    }
    if (owed <= 0) return;
    const overdraft = this.#recordOverdraft({ ...recorded, cost: owed }, now)!;
    // A release that has found no reservation has recorded another hit in its place.
    if (owed === cost && overdraft.life === life) recorded.receipt = overdraft.receipt;
  }

  /** Closes a call, and sets the numbers of its response. */
  #report(recorded: Recorded, now: number): void {
    const { oracle, stateId, receipt } = recorded;
    const { settle, report } = oracle.reserving!;
    const before = this.#states.read(oracle, stateId, now);
    const closed = this.#states.isInItsLife(recorded, now) ? settle(before, receipt, now, 0)[0] : before;
    this.#states.change(stateId, oracle, report!(closed, now, recorded), now);
  }

  #recordOverdraft(limit: LimitOnKey, now: number): Recorded | undefined {
    if (hasSlots(limit) || limit.oracle.testsOnly) return undefined;
    this.#states.dropImplausible(limit, now);
    return this.#record(limit, now, limit.oracle.reserving?.charge);
  }

  #record(limit: LimitOnKey, now: number, record = limit.oracle.record): Recorded {
    const { oracle, stateId, cost } = limit;
    const [state, receipt] = record(this.#states.read(oracle, stateId, now), now, cost);
    const life = this.#states.change(stateId, oracle, state, now);
    return { ...limit, life, receipt, at: now };
  }

  #limitsOnKeys(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs): LimitOnKey[] {
    return Object.entries(specs).map(([name, spec], index) => {
      const oracle = oracleOf(spec, this.#leasesEnd);
      return { name, cost: costAt(costs, index), oracle, stateId: stateIdOf(name, spec, keys) };
    });
  }
}
