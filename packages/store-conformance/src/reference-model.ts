import type { Decision, LimitDecision, RejectionReason } from '@rollgate/core';
import { type Costs, costAt, type SettledCosts } from '@rollgate/core/store';
import { type LimitSpec, oracleOf } from './algorithms.js';
import { combineDecisions } from './expected-decision.js';
import { findFirstTime } from './find-first-time.js';
import { MS, type Oracle } from './oracles/oracle.js';

/** Limits by name. */
export type LimitSpecs = Readonly<Record<string, LimitSpec>>;

/** The life of one key of one limit and algorithm, from its first record until it is reset or expires. */
interface Life {
  state: unknown;
  /** The oracle that recorded last and so determines when the state expires. */
  recorder: Oracle;
}

/** One limit of a check, the id of its state, and what the action costs it. */
interface LimitOnKey {
  readonly name: string;
  readonly cost: number;
  readonly oracle: Oracle;
  readonly stateId: string;
}

/** What a check recorded for one limit. Without a cost, it recorded nothing. */
interface Recorded extends LimitOnKey {
  /** A lease may move to a later life. */
  life: Life | undefined;
  receipt: unknown;
  /** For slots, the number that is not released. */
  cost: number;
  /** The time of the check. */
  readonly at: number;
  /** Whether a release has spent what was reserved. */
  isReleased?: boolean;
}

/** The records of a check for each limit, or for those that record rejected attempts. */
export type ModelReceipt = readonly Recorded[];

/**
 * The model of a store: an oracle decides each limit on its key. The model searches for each wait by trying times.
 */
export class ReferenceModel {
  readonly #lives = new Map<string, Life>();
  readonly #leasesEnd: boolean;

  /** @param leasesEnd Whether leases in the store end. */
  constructor(leasesEnd = false) {
    this.#leasesEnd = leasesEnd;
  }

  /** Decides at `now`, in microseconds. With `records` as `check` does, without as `peek`. */
  check(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs, now: number, records: boolean) {
    const limits = this.#limitsOnKeys(specs, keys, costs);
    for (const one of limits) this.#dropImplausible(one, now);
    const allowedByLimit = limits.map((one) => one.cost === 0 || this.#allows(one, now));
    const allowed = allowedByLimit.every(Boolean);
    // Before anything is recorded, because a recorded attempt may fill the window.
    const reasons = limits.map((one, index) => (allowedByLimit[index] ? undefined : this.#reason(one, now)));
    const delays = limits.map(({ oracle, stateId, cost }) =>
      allowed && cost > 0 ? oracle.delay(this.#read(oracle, stateId, now), now) : 0,
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
        ...this.#figures(one, now),
        ...(records ? undefined : one.oracle.usage?.(this.#read(one.oracle, one.stateId, now), now)),
        retryAfterMs:
          allowed || one.cost === 0 || (allowedByLimit[index] && hasSlots(one)) ? 0 : this.#wait(one, now) / MS,
        delayMs: delays[index]! / MS,
        ...(allowedByLimit[index]! ? {} : { reason: reasons[index]! }),
        ...(!allowedByLimit[index] && this.#hasEstimatedWait(one, now) ? { retryIsEstimate: true } : {}),
      },
    ]);
    const charged = limits.filter(({ cost }) => cost > 0).map(({ name }) => name);
    const decision: Decision = combineDecisions(Object.fromEntries(results), charged);
    return { decision, receipt };
  }

  /** Refunds at `now` the records in lives that have not ended. */
  refund(receipts: ModelReceipt, now: number): void {
    this.settle(receipts, 0, now);
  }

  /** Refunds what exceeds the settled costs, in lives that have not ended, and records what is missing. */
  settle(receipts: ModelReceipt, costs: SettledCosts, now: number): void {
    for (const recorded of receipts) {
      const { life, stateId, oracle, receipt, cost } = recorded;
      if (reservesUnits(recorded) || oracle.reserving?.tell !== undefined) {
        this.#settleReservation(recorded, costs, now);
        continue;
      }
      const settled = (typeof costs === 'number' ? costs : costs[recorded.name]) ?? cost;
      if (settled > cost) this.#recordOverdraft({ ...recorded, cost: settled - cost }, now);
      else if (settled < cost && life !== undefined && this.#lives.get(stateId) === life)
        life.state = oracle.refund(life.state, receipt, now, settled);
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
    for (const [name, spec] of Object.entries(specs)) this.#lives.delete(stateIdOf(name, spec, keys));
  }

  /** The state of the key at a time. */
  #read(oracle: Oracle, stateId: string, at: number): unknown {
    return this.#isLive(stateId, at) ? this.#lives.get(stateId)!.state : oracle.empty;
  }

  #isLive(stateId: string, at: number): boolean {
    const life = this.#lives.get(stateId);
    return life !== undefined && life.recorder.expires(life.state) > at;
  }

  /** Drops the state of a wrong clock for good, so that it does not count when time reaches it. */
  #dropImplausible({ oracle, stateId }: LimitOnKey, now: number): void {
    const life = this.#lives.get(stateId);
    if (life !== undefined && oracle.isImplausible(life.state, now)) this.#lives.delete(stateId);
  }

  #allows({ oracle, stateId, cost }: LimitOnKey, at: number): boolean {
    return cost <= oracle.quota && oracle.allows(this.#read(oracle, stateId, at), at, cost);
  }

  #wait(limit: LimitOnKey, now: number): number {
    if (limit.cost > limit.oracle.quota) return Infinity;
    const suggested = this.#suggestedWait(limit, now);
    if (suggested !== undefined) return suggested;
    return limit.oracle.retryAfterMicros ?? findFirstTime(now, (at) => this.#allows(limit, at)) - now;
  }

  /** The wait that the limit suggests because of reservations. */
  #suggestedWait({ oracle, stateId, cost }: LimitOnKey, now: number): number | undefined {
    return oracle.reserving?.suggestedWait(this.#read(oracle, stateId, now), now, cost);
  }

  /** Whether the wait of a rejection by this limit is an estimate. */
  #hasEstimatedWait(limit: LimitOnKey, now: number): boolean {
    if (limit.cost > limit.oracle.quota) return false;
    return hasSlots(limit) || this.#suggestedWait(limit, now) !== undefined;
  }

  /** The rule that rejects just before the action would be allowed if the state never expired. */
  #reason({ oracle, stateId, cost }: LimitOnKey, now: number): RejectionReason {
    if (cost > oracle.quota || oracle.allowsUnits === undefined) return oracle.reason ?? 'limit';
    const state = this.#read(oracle, stateId, now);
    const allowedAt = findFirstTime(now, (at) => oracle.allows(state, at, cost));
    return oracle.allowsUnits(state, allowedAt - 1, cost) ? 'minDifference' : 'limit';
  }

  #figures(
    { oracle, stateId }: LimitOnKey,
    now: number,
  ): Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs' | 'nextUnitMs'> {
    const { quota, retryAfterMicros } = oracle;
    const state = this.#read(oracle, stateId, now);
    const kept = oracle.reserving?.withoutLeases(state, now) ?? state;
    const free = (at: number) => oracle.free(this.#isLive(stateId, at) ? kept : oracle.empty, at);
    const remaining = Math.max(0, free(now));
    const own = oracle.reserving?.figures?.(state, now);
    if (own !== undefined) {
      const { limit, resetMicros, nextUnitMicros } = own;
      return { limit, remaining, resetMs: resetMicros / MS, nextUnitMs: nextUnitMicros / MS };
    }
    const waitFor = (units: number) => findFirstTime(now, (at) => free(at) >= units) - now;
    const resetMicros = remaining === quota ? 0 : (retryAfterMicros ?? waitFor(quota));
    const nextUnitMicros = remaining === quota ? 0 : waitFor(remaining + 1);
    const nextUnitMs = retryAfterMicros === undefined ? nextUnitMicros / MS : undefined;
    return { limit: quota, remaining, resetMs: resetMicros / MS, nextUnitMs };
  }

  #renewOne(recorded: Recorded, now: number): boolean {
    const { oracle, stateId, receipt, cost } = recorded;
    this.#dropImplausible(recorded, now);
    // A reservation in an earlier life has nothing to lose.
    if (reservesUnits(recorded) && !this.#isInItsLife(recorded, now)) return true;
    const state = oracle.renew!(this.#read(oracle, stateId, now), receipt, now, cost);
    if (state === undefined) return false;
    recorded.life = this.#setState(stateId, oracle, state, now);
    return true;
  }

  #settleReservation(recorded: Recorded, costs: SettledCosts, now: number): void {
    const { oracle, name, life, receipt, cost, isReleased } = recorded;
    const settled = (typeof costs === 'number' ? costs : costs[name]) ?? cost;
    this.#dropImplausible(recorded, now);
    if (oracle.reserving!.tell !== undefined) {
      this.#tell(recorded, now);
      return;
    }
    let owed = isReleased ? settled - cost : settled;
    if (this.#isInItsLife(recorded, now)) {
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
  #tell(recorded: Recorded, now: number): void {
    const { oracle, stateId, receipt, at } = recorded;
    const { settle, tell } = oracle.reserving!;
    const before = this.#read(oracle, stateId, now);
    const closed = this.#isInItsLife(recorded, now) ? settle(before, receipt, now, 0)[0] : before;
    this.#setState(stateId, oracle, tell!(closed, now, at), now);
  }

  /** Changes the state of the key in its present life, or in a new one. */
  #setState(stateId: string, recorder: Oracle, state: unknown, now: number): Life {
    const life = this.#isLive(stateId, now) ? this.#lives.get(stateId)! : { state, recorder };
    Object.assign(life, { state, recorder });
    this.#lives.set(stateId, life);
    return life;
  }

  #isInItsLife({ life, stateId }: Recorded, now: number): boolean {
    return life !== undefined && this.#lives.get(stateId) === life && this.#isLive(stateId, now);
  }

  #recordOverdraft(limit: LimitOnKey, now: number): Recorded | undefined {
    if (hasSlots(limit) || limit.oracle.testsOnly) return undefined;
    this.#dropImplausible(limit, now);
    return this.#record(limit, now, limit.oracle.reserving?.charge);
  }

  #record(limit: LimitOnKey, now: number, record = limit.oracle.record): Recorded {
    const { oracle, stateId, cost } = limit;
    const [state, receipt] = record(this.#read(oracle, stateId, now), now, cost);
    const life = this.#setState(stateId, oracle, state, now);
    return { ...limit, life, receipt, at: now };
  }

  #limitsOnKeys(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs): LimitOnKey[] {
    return Object.entries(specs).map(([name, spec], index) => {
      const oracle = oracleOf(spec, this.#leasesEnd);
      return { name, cost: costAt(costs, index), oracle, stateId: stateIdOf(name, spec, keys) };
    });
  }
}

/** Whether the limit gives out slots. */
export function hasSlots({ oracle }: Pick<LimitOnKey, 'oracle'>): boolean {
  return oracle.retryAfterMicros !== undefined;
}

/** Whether the check has reserved units. */
function reservesUnits({ oracle, cost }: Pick<LimitOnKey, 'oracle' | 'cost'>): boolean {
  return oracle.reserving !== undefined && cost > 0;
}

/** Whether the check has taken leases. */
export function hasLease(one: Pick<LimitOnKey, 'oracle' | 'cost'>): boolean {
  return hasSlots(one) || reservesUnits(one);
}

function stateIdOf(name: string, { algorithm }: LimitSpec, keys: Readonly<Record<string, string>>): string {
  return `${algorithm} ${name.length} ${name} ${keys[name]}`;
}
