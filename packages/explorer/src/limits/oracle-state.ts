import type { Admission } from '../../../store-conformance/src/algorithms/admissions.js';
import { LimitModel, type Verdict } from '../../../store-conformance/src/limit-model.js';
import type { Life, Recorded } from '../../../store-conformance/src/model-states.js';
import { type ExploredLimit, type PreparedCall, type PreparedScenario, STEP_BACK_MICROS } from './scenario.js';
import type { Step } from './steps.js';

/** A time near today, so that moments are far greater than any duration or count. */
export const APPROXIMATE_START_MICROS = 2 ** 50;

/** What one limit recorded of a check, and its entry in `OracleState.admitted`, if it has one. */
export type Part = Recorded<ExploredLimit> & { admission?: Admission | undefined };

/**
 * When each limit with a `minDifference` recorded last in this life of a key, by its index. Empty after a refund, which
 * may have undone that.
 */
interface Newest {
  readonly life: number | undefined;
  readonly times: readonly (number | undefined)[];
}

/** What the oracles know after a history. Copies are cheap, so a history can branch. */
export class OracleState extends LimitModel<ExploredLimit> {
  nowMicros = 0;
  highestMicros = 0;
  /**
   * For each check that recorded something and was not refunded, oldest first, what it recorded. Empty for a rejected
   * check, because a refund of it changes nothing. The array is replaced and never changed, so a copy may share it.
   */
  receipts: readonly (readonly Part[])[] = [];
  /**
   * The actions that were allowed and not refunded, by the index of the state, as far back as they matter. Empty if
   * several limits share the key.
   */
  admitted: readonly (readonly Admission[])[] = [];
  #newest: readonly (Newest | undefined)[] = [];

  static start({ periodMicros, stateIds }: PreparedScenario): OracleState {
    const oracles = new OracleState();
    oracles.admitted = stateIds.map(() => []);
    oracles.#newest = stateIds.map(() => undefined);
    oracles.nowMicros = Math.ceil(APPROXIMATE_START_MICROS / periodMicros) * periodMicros;
    oracles.highestMicros = oracles.nowMicros;
    return oracles;
  }

  copy(): OracleState {
    const copy = new OracleState();
    copy.states = this.states.copy();
    copy.nowMicros = this.nowMicros;
    copy.highestMicros = this.highestMicros;
    copy.receipts = this.receipts;
    copy.admitted = this.admitted;
    copy.#newest = this.#newest;
    return copy;
  }

  lifeOf(stateId: string): Life<ExploredLimit> | undefined {
    return this.states.lifeOf(stateId);
  }

  /** When each limit recorded last in the life of the key. */
  newestIn({ id, recorder: { stateIndex } }: Life<ExploredLimit>): Newest['times'] {
    const newest = this.#newest[stateIndex];
    return newest?.life === id ? newest.times : [];
  }

  /** The time since this limit last recorded in the current life of the key, or `Infinity`. */
  microsSinceNewest({ stateId, scenarioLimit }: ExploredLimit): number {
    if (!this.states.isLive(stateId, this.nowMicros)) return Infinity;
    return this.nowMicros - (this.newestIn(this.states.lifeOf(stateId)!)[scenarioLimit.index] ?? -Infinity);
  }

  /** Takes one step. Returns what the oracles expect of a check, a peek or a charge. */
  take(step: Step, calls: readonly PreparedCall[]): Verdict<ExploredLimit> | undefined {
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
        for (const { stateId, stateIndex } of calls[step.call]!.withCost[1]!) {
          this.states.delete(stateId);
          this.admitted = this.admitted.with(stateIndex, []);
        }
        return undefined;
      case 'refund':
        this.settle(this.#takeReceipt(step.receipt), 0, this.nowMicros);
        return undefined;
      case 'release':
        this.release(this.#takeReceipt(step.receipt), this.nowMicros);
        return undefined;
      case 'renew': {
        const receipt = this.#copyReceipt(step.receipt);
        this.renew(receipt, this.nowMicros);
        this.receipts = this.receipts.with(step.receipt, receipt);
        return undefined;
      }
      case 'settle':
        this.settle(this.#takeReceipt(step.receipt), step.cost, this.nowMicros);
        return undefined;
      case 'charge':
        this.overdraw(
          calls[step.call]!.withCost[step.cost]!.filter(({ blocksFor }) => blocksFor === undefined),
          this.nowMicros,
        );
        return this.decide(calls[step.call]!.withCost[1]!, this.nowMicros, false);
      case 'credit': {
        const { withCost, isBeyond } = calls[step.call]!;
        const limits = withCost[1]!;
        if (isBeyond) this.extend(limits, step.cost, this.nowMicros);
        else this.giveBack(limits, step.cost, this.nowMicros);
        // What is given back may be admitted again.
        for (const { stateIndex } of limits) {
          this.admitted = this.admitted.with(stateIndex, []);
          this.#newest = this.#newest.with(stateIndex, undefined);
        }
        this.receipts = this.receipts.map((parts) => parts.map((part) => ({ ...part, admission: undefined })));
        return this.decide(limits, this.nowMicros, false);
      }
      default:
        return this.#decide(calls[step.call]!.withCost[step.cost]!, step.kind === 'check');
    }
  }

  protected override onRecord({ stateIndex, life, at, scenarioLimit: { index, minDifferenceMicros } }: Part): void {
    if (minDifferenceMicros === 0) return;
    const newest = this.#newest[stateIndex];
    const times = newest?.life === life ? newest!.times.slice() : [];
    times[index] = Math.max(at, times[index] ?? at);
    this.#newest = this.#newest.with(stateIndex, { life, times });
  }

  /** Replaces what a check has admitted by what of it is left. */
  protected override onSettle({ stateIndex, admission, cost }: Part, settled: number): void {
    this.#newest = this.#newest.with(stateIndex, undefined);
    if (settled >= cost) return;
    // If a credit has given its units back, this may take those of later checks.
    if (admission === undefined) {
      this.admitted = this.admitted.with(stateIndex, []);
      return;
    }
    const kept = settled === 0 ? [] : [{ ...admission, cost: settled }];
    const left = this.admitted[stateIndex]!.flatMap((one) => (one === admission ? kept : [one]));
    this.admitted = this.admitted.with(stateIndex, left);
  }

  #decide(limits: readonly ExploredLimit[], isCheck: boolean): Verdict<ExploredLimit> {
    const verdict = this.decide(limits, this.nowMicros, isCheck);
    const parts: Part[] = verdict.receipt.filter(({ life }) => life !== undefined);
    if (parts.length === 0) return verdict;
    this.receipts = [...this.receipts, verdict.allowed ? parts : []];
    for (const part of verdict.allowed ? parts : []) {
      if (part.scenarioLimit.isAlone)
        this.#admit(part, verdict.delays[limits.findIndex(({ name }) => name === part.name)]!);
    }
    return verdict;
  }

  #admit(part: Part, delay: number): void {
    const { stateIndex, at, cost, scenarioLimit } = part;
    part.admission = { at, cost, delay };
    const recent = this.admitted[stateIndex]!.filter((one) => one.at > at - scenarioLimit.limit.keepMicros);
    this.admitted = this.admitted.with(stateIndex, [...recent, part.admission]);
  }

  /** A settlement changes the parts, which a copy shares. */
  #copyReceipt(index: number): readonly Part[] {
    return this.receipts[index]!.map((part) => ({ ...part }));
  }

  #takeReceipt(index: number): readonly Part[] {
    const receipt = this.#copyReceipt(index);
    this.receipts = this.receipts.toSpliced(index, 1);
    return receipt;
  }
}
