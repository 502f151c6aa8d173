import { onlyTests } from '../limits/capabilities.js';
import { createVerdict } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import { evaluate } from './evaluate.js';
import { RecordedHit } from './recorded-hit.js';
import type { KeyState, States } from './states.js';

/** The check of one rule: its state and its verdict. A rule with cost 0 only reports. One that only tests records nothing. */
export class RuleCheck {
  readonly verdict = createVerdict();
  readonly passed: boolean;
  /** The units to record. */
  readonly cost: number;
  state: KeyState | undefined;

  /** Tests the rule, and changes nothing. */
  constructor(
    states: States,
    readonly rule: Rule,
    readonly key: string,
    cost: number,
  ) {
    const { verdict } = this;
    this.state = states.find(rule, key);
    evaluate(rule.limit, this.state, states.nowMicros, cost === 0 ? 1 : cost, verdict);
    if (cost === 0) verdict.waitMicros = verdict.delayMicros = 0;
    this.cost = onlyTests(rule.limit) ? 0 : cost;
    this.passed = verdict.waitMicros === 0;
  }
}

/** Records the actions of these checks, or overdrafts. Each verdict becomes that on the new state. */
export function recordAll(states: States, checks: readonly RuleCheck[], areOverdrafts?: boolean): RecordedHit[] {
  // All states exist before the first one changes, so that a store can make room for them first.
  for (const check of checks) if (check.cost > 0) check.state ??= states.create(check.rule, check.key);
  return checks.map(({ rule, key, cost, state, verdict }) => {
    if (cost === 0) return RecordedHit.none(rule, key, states.nowMicros);
    const { life } = state!;
    const { atMicros } = verdict;
    rule.limit.record(state!, states.nowMicros, cost, verdict, areOverdrafts);
    states.save(state!, rule.limit);
    return new RecordedHit(rule, key, life, atMicros, states.nowMicros, cost);
  });
}
