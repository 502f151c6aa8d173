import type { Admission } from '../../../store-conformance/src/algorithms/admissions.js';
import { NO_NEWEST, withNewest } from './key-life.js';
import { KeyStates } from './key-states.js';
import { hasLease, hasSlots, type Part, reservesUnits } from './recorded-part.js';
import { type PreparedCall, type PreparedScenario, type ScenarioLimit, STEP_BACK_MICROS } from './scenario.js';
import type { Step } from './steps.js';

/** A time near today, so that moments are far greater than any duration or count. */
export const APPROXIMATE_START_MICROS = 2 ** 50;

/**
 * What the oracles expect of one check: whether each limit allows it, whether all do, and the delay of each. Of a limit that
 * rejects, its state before the check, because a recorded attempt may change the rule that rejects the next one.
 */
export interface OracleVerdict {
  readonly allowedByLimit: readonly boolean[];
  readonly allowed: boolean;
  readonly delays: readonly number[];
  readonly rejectingStates: readonly unknown[];
  /** Whether it is the verdict on a check. */
  readonly isCheck: boolean;
}

/**
 * What the naive oracles know after a history, by the rules of `ReferenceModel`. Copies are cheap, so a history can
 * branch.
 */
export class OracleState extends KeyStates {
  highestMicros = 0;
  /**
   * For each check that recorded something and was not refunded, oldest first, what it recorded. Empty for a rejected
   * check, because a refund of it changes nothing.
   */
  receipts: readonly (readonly Part[])[] = [];
  /**
   * The actions that were allowed and not refunded, by the index of the state, as far back as they matter. Empty if
   * several limits share the key.
   */
  admitted: readonly (readonly Admission[])[];

  constructor(lives: OracleState['lives'], admitted: OracleState['admitted']) {
    super(lives);
    this.admitted = admitted;
  }

  static start({ periodMicros, stateCount }: PreparedScenario): OracleState {
    const oracles = new OracleState(new Array(stateCount).fill(undefined), new Array(stateCount).fill([]));
    oracles.nowMicros = Math.ceil(APPROXIMATE_START_MICROS / periodMicros) * periodMicros;
    oracles.highestMicros = oracles.nowMicros;
    return oracles;
  }

  copy(): OracleState {
    const copy = new OracleState(this.lives, this.admitted);
    copy.nowMicros = this.nowMicros;
    copy.highestMicros = this.highestMicros;
    copy.receipts = this.receipts;
    copy.lifeCount = this.lifeCount;
    return copy;
  }

  /** Takes one step. Returns what the oracles expect of a check, a peek or a charge. */
  take(step: Step, calls: readonly PreparedCall[]): OracleVerdict | undefined {
    switch (step.kind) {
      case 'tick':
        this.nowMicros += step.micros;
        this.highestMicros = Math.max(this.highestMicros, this.nowMicros);
        return undefined;
      case 'stepBack':
        this.nowMicros -= STEP_BACK_MICROS;
        this.admitted = this.admitted.map(() => []); // After a step back, the guarantees here do not apply.
        return undefined;
      case 'reset':
        for (const stateIndex of calls[step.call]!.stateIndexes) {
          this.setLife(stateIndex, undefined);
          this.admitted = this.admitted.with(stateIndex, []);
        }
        return undefined;
      case 'refund':
        this.#settle(this.receipts[step.receipt]!, 0);
        this.receipts = this.receipts.toSpliced(step.receipt, 1);
        return undefined;
      case 'release':
        for (const part of this.receipts[step.receipt]!.filter(hasLease))
          this.#settle([part], reservesUnits(part) ? part.cost : 0);
        this.receipts = this.receipts.toSpliced(step.receipt, 1);
        return undefined;
      case 'renew':
        this.receipts = this.receipts.with(
          step.receipt,
          this.receipts[step.receipt]!.map((part) => this.#renew(part)),
        );
        return undefined;
      case 'settle':
        this.#settle(this.receipts[step.receipt]!, step.cost);
        this.receipts = this.receipts.toSpliced(step.receipt, 1);
        return undefined;
      case 'charge':
        this.#charge(calls[step.call]!, step.cost);
        return this.#decide(calls[step.call]!, 1, false);
      default:
        return this.#decide(calls[step.call]!, step.cost, step.kind === 'check');
    }
  }

  #decide({ scenarioLimits, stateIndexes }: PreparedCall, cost: number, shouldRecord: boolean): OracleVerdict {
    const now = this.nowMicros;
    const allowedByLimit: boolean[] = [];
    const rejectingStates: unknown[] = [];
    let allowed = true;
    for (let index = 0; index < scenarioLimits.length; index++) {
      const [scenarioLimit, stateIndex] = [scenarioLimits[index]!, stateIndexes[index]!];
      const life = this.lives[stateIndex];
      if (life !== undefined && scenarioLimit.oracle.isImplausible(life.state, now))
        this.setLife(stateIndex, undefined);
      allowedByLimit.push(this.allows(scenarioLimit, stateIndex, now, cost));
      allowed &&= allowedByLimit[index]!;
      rejectingStates.push(allowedByLimit[index] ? undefined : this.read(scenarioLimit, stateIndex, now));
    }
    const delays: number[] = [];
    const parts: Part[] = [];
    for (let index = 0; index < scenarioLimits.length; index++) {
      const [scenarioLimit, stateIndex] = [scenarioLimits[index]!, stateIndexes[index]!];
      const delay = allowed ? scenarioLimit.oracle.delay(this.read(scenarioLimit, stateIndex, now), now) : 0;
      delays.push(delay);
      if (!shouldRecord || !(allowed || scenarioLimit.oracle.countRejected) || scenarioLimit.oracle.testsOnly) continue;
      const admission = allowed && scenarioLimit.isAlone ? { at: now, cost, delay } : undefined;
      if (admission !== undefined) this.#admit(stateIndex, admission, now - scenarioLimit.limit.keepMicros);
      parts.push(this.#record(scenarioLimit, stateIndex, cost, admission));
    }
    if (parts.length > 0) this.receipts = [...this.receipts, allowed ? parts : []];
    return { allowedByLimit, allowed, delays, rejectingStates, isCheck: shouldRecord };
  }

  #charge({ scenarioLimits, stateIndexes }: PreparedCall, cost: number): void {
    for (let index = 0; index < scenarioLimits.length; index++)
      this.#recordOverdraft(scenarioLimits[index]!, stateIndexes[index]!, cost);
  }

  #renew(part: Part): Part {
    const { scenarioLimit, stateIndex, receipt, cost } = part;
    if (!hasLease(part)) return part;
    this.dropImplausible(scenarioLimit, stateIndex);
    const now = this.nowMicros;
    // A reservation in an earlier life has nothing to lose.
    if (reservesUnits(part) && !this.isInItsLife(part)) return part;
    const state = scenarioLimit.oracle.renew!(this.read(scenarioLimit, stateIndex, now), receipt, now, cost);
    if (state === undefined) return part;
    const { id, newest } = this.currentLife(stateIndex);
    this.setLife(stateIndex, { id, state, recorder: scenarioLimit, newest });
    return { ...part, life: id };
  }

  #recordOverdraft(scenarioLimit: ScenarioLimit, stateIndex: number, cost: number): void {
    if (hasSlots({ scenarioLimit }) || scenarioLimit.oracle.testsOnly) return;
    this.dropImplausible(scenarioLimit, stateIndex);
    this.#record(scenarioLimit, stateIndex, cost, undefined, scenarioLimit.oracle.reserving?.charge);
  }

  #settleReservation(part: Part, settled: number): void {
    const { scenarioLimit, stateIndex, receipt } = part;
    this.dropImplausible(scenarioLimit, stateIndex);
    if (scenarioLimit.oracle.reserving!.report !== undefined) {
      this.#report(part);
      return;
    }
    let owed = settled;
    if (this.isInItsLife(part)) {
      const current = this.lives[stateIndex]!;
      const [state, left = settled] = scenarioLimit.oracle.reserving!.settle(
        current.state,
        receipt,
        this.nowMicros,
        settled,
      );
      owed = left;
      this.#admitAgain(part, settled);
      this.setLife(stateIndex, { ...current, newest: NO_NEWEST, state });
    }
    if (owed > 0) this.#recordOverdraft(scenarioLimit, stateIndex, owed);
  }

  /** Closes a call, and sets the numbers of its response. */
  #report(part: Part): void {
    const { scenarioLimit, stateIndex, receipt } = part;
    const { settle, report } = scenarioLimit.oracle.reserving!;
    const now = this.nowMicros;
    const before = this.read(scenarioLimit, stateIndex, now);
    const closed = this.isInItsLife(part) ? settle(before, receipt, now, 0)[0] : before;
    const { id, newest } = this.currentLife(stateIndex);
    this.setLife(stateIndex, { id, state: report!(closed, now, part), recorder: scenarioLimit, newest });
  }

  #record(
    scenarioLimit: ScenarioLimit,
    stateIndex: number,
    cost: number,
    admission: Admission | undefined,
    record = scenarioLimit.oracle.record,
  ): Part {
    const now = this.nowMicros;
    const [state, receipt] = record(this.read(scenarioLimit, stateIndex, now), now, cost);
    const { id, newest } = this.currentLife(stateIndex);
    this.setLife(stateIndex, { id, state, recorder: scenarioLimit, newest: withNewest(newest, scenarioLimit, now) });
    return { scenarioLimit, stateIndex, life: id, receipt, cost, admission, at: now };
  }

  #settle(parts: readonly Part[], settled: number): void {
    for (const part of parts) {
      const { scenarioLimit, stateIndex, life, receipt, cost } = part;
      if (reservesUnits(part)) {
        this.#settleReservation(part, settled);
        continue;
      }
      if (settled > cost) this.#recordOverdraft(scenarioLimit, stateIndex, settled - cost);
      const current = this.lives[stateIndex];
      if (settled >= cost || current?.id !== life) continue;
      this.#admitAgain(part, settled);
      const state = scenarioLimit.oracle.refund(current.state, receipt, this.nowMicros, settled);
      this.setLife(stateIndex, { ...current, newest: NO_NEWEST, state });
    }
  }

  /** Replaces what a check has admitted by what of it is left. */
  #admitAgain({ stateIndex, admission, cost }: Part, settled: number): void {
    if (settled >= cost) return;
    const kept = admission === undefined || settled === 0 ? [] : [{ ...admission, cost: settled }];
    const left = this.admitted[stateIndex]!.flatMap((one) => (one === admission ? kept : [one]));
    this.admitted = this.admitted.with(stateIndex, left);
  }

  #admit(stateIndex: number, admission: Admission, fromMicros: number): void {
    const recent = this.admitted[stateIndex]!.filter(({ at }) => at > fromMicros);
    this.admitted = this.admitted.with(stateIndex, [...recent, admission]);
  }
}
