import { RecordedHit } from '../engine/recorded-hit.js';
import type { States } from '../engine/states.js';
import type { Hit, Limit, State } from '../limits/limit.js';
import type { ToldCall, ToldNumbers } from './tell-numbers.js';

/** What a response changes a state with. */
interface TellingLimit extends Limit {
  close(state: State, nowMicros: number, hit: Hit): boolean;
  tell(state: State, told: ToldNumbers, nowMicros: number, call: ToldCall): void;
}

/** Closes a call, and sets the numbers of its response. */
export class TellSettlement extends RecordedHit {
  readonly #hit: RecordedHit;
  readonly #limit: TellingLimit;
  readonly #told: ToldNumbers;

  constructor(hit: RecordedHit, limit: TellingLimit, told: ToldNumbers) {
    super(hit.rule, hit.key, hit.life, hit.atMicros, hit.recordedMicros, Number.NaN);
    this.#hit = hit;
    this.#limit = limit;
    this.#told = told;
  }

  override refund(states: States): void {
    const { rule, key, life, recordedMicros } = this;
    const { nowMicros } = states;
    const state = states.find(rule, key) ?? states.create(rule, key);
    if (state.life === life) this.#limit.close(state, nowMicros, this.#hit);
    this.#limit.tell(state, this.#told, nowMicros, { sentMicros: recordedMicros, cost: this.#hit.cost });
    states.save(state, this.#limit);
  }
}
