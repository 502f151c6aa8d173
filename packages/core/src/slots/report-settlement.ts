import { RecordedHit } from '../engine/recorded-hit.js';
import type { States } from '../engine/states.js';
import type { Hit, Limit, State } from '../limits/limit.js';
import type { ReportedCall, ReportedNumbers } from './report-numbers.js';

/** What a response changes a state with. */
interface ReportingLimit extends Limit {
  close(state: State, nowMicros: number, hit: Hit): boolean;
  report(state: State, reported: ReportedNumbers, nowMicros: number, call: ReportedCall): void;
}

/** Closes a call, and sets the numbers of its response. */
export class ReportSettlement extends RecordedHit {
  readonly #hit: RecordedHit;
  readonly #limit: ReportingLimit;
  readonly #reported: ReportedNumbers;

  constructor(hit: RecordedHit, limit: ReportingLimit, reported: ReportedNumbers) {
    super(hit.rule, hit.key, hit.life, hit.atMicros, hit.recordedMicros, Number.NaN);
    this.#hit = hit;
    this.#limit = limit;
    this.#reported = reported;
  }

  override refund(states: States): void {
    const { rule, key, life, recordedMicros } = this;
    const { nowMicros } = states;
    const state = states.find(rule, key) ?? states.create(rule, key);
    if (state.life === life) this.#limit.close(state, nowMicros, this.#hit);
    this.#limit.report(state, this.#reported, nowMicros, { sentMicros: recordedMicros, cost: this.#hit.cost });
    states.save(state, this.#limit);
  }
}
