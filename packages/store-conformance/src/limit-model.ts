import type { Decision, LimitDecision } from '@rollgate/core';
import type { SettledCosts } from '@rollgate/core/store';
import { MS } from './algorithms/oracle.js';
import { combineDecisions } from './expected-decision.js';
import { allowsAt, closedResult, figuresOf, type Guess, isUsedUp, reasonOf, waitOf } from './model-figures.js';
import {
  hasLease,
  hasSlots,
  type LimitOnKey,
  ModelStates,
  type Recorded,
  reports,
  reservesUnits,
} from './model-states.js';

/** What a check decides, before its figures are known. */
export interface Verdict<One extends LimitOnKey> {
  readonly limits: readonly One[];
  readonly now: number;
  readonly isCheck: boolean;
  readonly allowed: boolean;
  readonly allowedByLimit: readonly boolean[];
  readonly delays: readonly number[];
  /** The states in which limits reject, because a recorded attempt may fill the window. */
  readonly rejectingStates: readonly unknown[];
  /** The records for each limit, or for those that record rejected attempts. */
  readonly receipt: readonly Recorded<One>[];
}

/** The model of a store: an oracle decides each limit on its key. The model searches for each wait by trying times. */
export class LimitModel<One extends LimitOnKey> {
  protected states = new ModelStates<One>();

  /** Decides at `now`, in microseconds, and records if it is a check. */
  decide(limits: readonly One[], now: number, isCheck: boolean): Verdict<One> {
    for (const one of limits) this.states.dropImplausible(one, now);
    const allowedByLimit = limits.map((one) => one.cost === 0 || allowsAt(this.states, one, now));
    const allowed = limits.every(({ isEnforced }, index) => allowedByLimit[index]! || !isEnforced);
    const begun = limits.filter(({ blocksFor }, index) => {
      const isOpen = blocksFor !== undefined && isCheck && !allowed && allowedByLimit[index]!;
      return isOpen && isUsedUp(this.states, blocksFor, now);
    });
    for (const one of begun) allowedByLimit[limits.indexOf(one)] = false;
    const rejectingStates = limits.map((one, index) =>
      allowedByLimit[index] ? undefined : this.states.read(one, now),
    );
    const delays = limits.map((one) =>
      allowed && one.cost > 0 ? one.oracle.delay(this.states.read(one, now), now) : 0,
    );
    const receipt = limits.flatMap((one): Recorded<One> | Recorded<One>[] => {
      const { oracle, cost, blocksFor } = one;
      if (begun.includes(one)) this.#record(one, now);
      if (blocksFor) return [];
      if (isCheck && cost > 0 && (allowed || oracle.countRejected) && !oracle.testsOnly) return this.#record(one, now);
      return allowed ? [{ ...one, life: undefined, receipt: undefined, at: now }] : [];
    });
    return { limits, now, isCheck, allowed, allowedByLimit, delays, rejectingStates, receipt };
  }

  /** The decision of this verdict, if nothing else has happened since. */
  describe({ limits, now, isCheck, ...verdict }: Verdict<One>, guess?: Decision): Decision {
    const results = limits.map((one, index): [string, LimitDecision] => {
      const guessed: Guess = guess?.limits[one.name];
      const allowed = verdict.allowedByLimit[index]!;
      const isFree = one.cost === 0 || (allowed && (verdict.allowed || hasSlots(one)));
      const wait = isFree ? { retryAfterMs: 0 } : waitOf(this.states, one, now, guessed);
      const result = {
        allowed,
        ...figuresOf(this.states, one, now, guessed),
        ...this.#usageOf(one, now, isCheck),
        retryAfterMs: wait.retryAfterMs,
        delayMs: verdict.delays[index]! / MS,
        ...(one.isEnforced ? {} : { enforced: false as const }),
      };
      if (allowed) return [one.name, result];
      return [one.name, { ...result, ...wait, reason: reasonOf(one, verdict.rejectingStates[index], now, guessed) }];
    });
    const charged = limits.filter(({ cost }) => cost > 0).map(({ name }) => name);
    const byName = new Map<string, LimitDecision>();
    for (const [name, result] of results) {
      const open = byName.get(name);
      if (open === undefined) byName.set(name, result);
      else if (!result.allowed) byName.set(name, closedResult(open, result));
    }
    return combineDecisions(Object.fromEntries(byName), charged);
  }

  /** Refunds what exceeds the settled costs, in lives that have not ended, and records what is missing. */
  settle(receipt: readonly Recorded<One>[], costs: SettledCosts, now: number): void {
    for (const recorded of receipt) {
      const { stateId, oracle, cost } = recorded;
      if (reservesUnits(recorded) || reports(recorded)) {
        this.#settleReservation(recorded, costs, now);
        continue;
      }
      const settled = settledCostOf(recorded, costs);
      if (settled > cost) this.#recordOverdraft({ ...recorded, cost: settled - cost }, now);
      else if (settled < cost && this.states.isNewestLife(recorded)) {
        const { state } = this.states.lifeOf(stateId)!;
        this.states.replace(stateId, oracle.refund(state, recorded.receipt, now, settled));
        this.onSettle(recorded, settled);
      }
      if (hasSlots(recorded)) recorded.cost = Math.min(cost, settled);
    }
  }

  /** Frees the slots of these records, and spends what they have reserved. */
  release(receipt: readonly Recorded<One>[], now: number): void {
    for (const one of receipt.filter(hasLease)) {
      this.settle([one], reservesUnits(one) ? one.cost : 0, now);
      one.isReleased = true;
    }
  }

  /** Renews the leases of these records. Returns whether all of them still have their slots. */
  renew(receipt: readonly Recorded<One>[], now: number): boolean {
    const renewed = receipt.filter((one) => hasLease(one) && one.cost > 0).map((one) => this.#renewOne(one, now));
    return renewed.every(Boolean);
  }

  /** Records without deciding. */
  overdraw(limits: readonly One[], now: number): void {
    for (const one of limits) if (one.cost > 0) this.#recordOverdraft(one, now);
  }

  /** Gives up to `units` recorded units of each limit back. */
  giveBack(limits: readonly One[], units: number, now: number): void {
    for (const one of limits) {
      const { oracle, stateId } = one;
      this.states.dropImplausible(one, now);
      if (!this.states.isLive(stateId, now)) continue;
      this.states.replace(stateId, oracle.credit!(this.states.lifeOf(stateId)!.state, now, units));
    }
  }

  /** Gives units of each limit back, and adds what exceeds the used ones to the present period. */
  extend(limits: readonly One[], units: number, now: number): void {
    for (const one of limits) {
      this.states.dropImplausible(one, now);
      this.states.change(one, one.oracle.extend!(this.states.read(one, now), now, units), now);
    }
  }

  /** What a subclass does when something was recorded. */
  protected onRecord(_recorded: Recorded<One>): void {}

  /** What a subclass does when a settlement to these units has changed what was recorded. */
  protected onSettle(_recorded: Recorded<One>, _settled: number): void {}

  /** What the result of a limit reports of its used units and its period. */
  #usageOf(one: One, now: number, isCheck: boolean): Partial<LimitDecision> {
    const { oracle } = one;
    const state = this.states.read(one, now);
    const usage = isCheck && oracle.period === undefined ? undefined : oracle.usage?.(state, now);
    return { ...usage, ...oracle.period?.(state, now) };
  }

  #renewOne(recorded: Recorded<One>, now: number): boolean {
    const { oracle, receipt, cost } = recorded;
    this.states.dropImplausible(recorded, now);
    // A reservation in an earlier life has nothing to lose.
    if (reservesUnits(recorded) && !this.states.isInItsLife(recorded, now)) return true;
    const state = oracle.renew!(this.states.read(recorded, now), receipt, now, cost);
    if (state === undefined) return false;
    recorded.life = this.states.change(recorded, state, now);
    return true;
  }

  #settleReservation(recorded: Recorded<One>, costs: SettledCosts, now: number): void {
    const { oracle, stateId, life, receipt, cost, isReleased } = recorded;
    const settled = settledCostOf(recorded, costs);
    this.states.dropImplausible(recorded, now);
    if (reports(recorded)) {
      this.#report(recorded, now);
      return;
    }
    let owed = isReleased ? settled - cost : settled;
    if (this.states.isInItsLife(recorded, now)) {
      const [state, left = owed] = oracle.reserving!.settle(this.states.read(recorded, now), receipt, now, settled);
      this.states.replace(stateId, state);
      this.onSettle(recorded, settled);
      owed = left;
    }
    if (owed <= 0) return;
    const overdraft = this.#recordOverdraft({ ...recorded, cost: owed }, now)!;
    // A release that has found no reservation has recorded another hit in its place.
    if (owed === cost && overdraft.life === life) recorded.receipt = overdraft.receipt;
  }

  /** Closes a call, and sets the numbers of its response. */
  #report(recorded: Recorded<One>, now: number): void {
    const { settle, report } = recorded.oracle.reserving!;
    const before = this.states.read(recorded, now);
    const closed = this.states.isInItsLife(recorded, now) ? settle(before, recorded.receipt, now, 0)[0] : before;
    this.states.change(recorded, report!(closed, now, recorded), now);
  }

  #recordOverdraft(limit: One, now: number): Recorded<One> | undefined {
    if (hasSlots(limit) || limit.oracle.testsOnly) return undefined;
    this.states.dropImplausible(limit, now);
    return this.#record(limit, now, limit.oracle.reserving?.charge);
  }

  #record(limit: One, now: number, record = limit.oracle.record): Recorded<One> {
    const [state, receipt] = record(this.states.read(limit, now), now, limit.cost);
    const recorded = { ...limit, life: this.states.change(limit, state, now), receipt, at: now };
    this.onRecord(recorded);
    return recorded;
  }
}

/** What the action has cost this limit. */
function settledCostOf({ name, cost }: LimitOnKey, costs: SettledCosts): number {
  return (typeof costs === 'number' ? costs : costs[name]) ?? cost;
}
