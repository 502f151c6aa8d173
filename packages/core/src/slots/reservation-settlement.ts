import { recordOverdrafts } from '../engine/decide.js';
import { RecordedHit } from '../engine/recorded-hit.js';
import type { States } from '../engine/states.js';
import type { State } from '../limits/limit.js';

/** What a settlement does with a reservation. */
export class ReservationSettlement extends RecordedHit {
  /** Whether a release had spent the reservation before. */
  override readonly isSpent: boolean;
  readonly #reserved: number;
  readonly #settled: number;
  readonly #settleIn: (state: State, nowMicros: number) => number;

  constructor(hit: RecordedHit, settled: number, settleIn: (state: State, nowMicros: number) => number) {
    super(hit.rule, hit.key, hit.life, hit.atMicros, hit.recordedMicros, Number.NaN);
    this.isSpent = hit.isSpent === true;
    this.#reserved = hit.cost;
    this.#settled = settled;
    this.#settleIn = settleIn;
  }

  override refund(states: States): void {
    const { rule, key } = this;
    const units = this.#settle(states);
    if (units > 0) recordOverdrafts(states, [{ rule, key, units }]);
  }

  /** Returns the units that are still to be recorded. */
  #settle(states: States): number {
    const state = states.find(this.rule, this.key);
    if (this.#reserved === 0 || state?.life !== this.life) return this.#settled - (this.isSpent ? this.#reserved : 0);
    const owed = this.#settleIn(state, states.nowMicros);
    states.save(state, this.rule.limit);
    return owed;
  }
}
