import type { LimitDecision } from '../decision/decision.js';
import { createVerdict, type Verdict } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import { evaluate, toLimitDecision } from './evaluate.js';
import { RecordedHit } from './recorded-hit.js';
import type { KeyState, States } from './states.js';

/** The check of one rule: its state and its verdict. A rule with cost 0 only reports. */
export class RuleCheck {
  readonly passed: boolean;
  readonly #verdict = createVerdict();
  #state: KeyState | undefined;

  /** Tests the rule, and changes nothing. */
  constructor(
    states: States,
    readonly rule: Rule,
    readonly key: string,
    readonly cost: number,
  ) {
    this.#state = states.find(rule, key);
    evaluate(rule.limit, this.#state, states.nowMicros, cost === 0 ? 1 : cost, this.#verdict);
    if (cost === 0) this.#verdict.waitMicros = this.#verdict.delayMicros = 0;
    this.passed = this.#verdict.waitMicros === 0;
  }

  /** Creates the state, unless it was found. */
  create(states: States): void {
    this.#state ??= states.create(this.rule, this.key);
  }

  record(states: States): RecordedHit {
    return recordHit(states, this.rule, this.key, this.cost, this.#state!, this.#verdict);
  }

  /** @param allowed Whether all rules allowed the action. */
  toLimitDecision(allowed: boolean): LimitDecision {
    return toLimitDecision(this.rule.limit, this.passed, this.#verdict, allowed);
  }
}

/** Records an action in a state by the verdict on it, which becomes the verdict on the new state. */
export function recordHit(
  states: States,
  rule: Rule,
  key: string,
  cost: number,
  state: KeyState,
  verdict: Verdict,
): RecordedHit {
  const { limit } = rule;
  const { life } = state;
  const { atMicros } = verdict;
  limit.record(state, states.nowMicros, cost, verdict);
  states.save(state, limit);
  return new RecordedHit(rule, key, life, atMicros, states.nowMicros, cost);
}
