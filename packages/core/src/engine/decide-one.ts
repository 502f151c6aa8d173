import type { Decision } from '../decision/decision.js';
import { DecisionWithReceipt } from '../decision/decision-with-receipt.js';
import { onlyTests } from '../limits/capabilities.js';
import { createVerdict } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import { evaluate, toLimitDecision } from './evaluate.js';
import { Receipt, RecordedHit } from './recorded-hit.js';
import type { States } from './states.js';

/** One verdict serves all checks. */
const verdict = createVerdict();

/**
 * Does the same as `decide` for one rule and a cost above 0. Without lists, a check takes a third less time.
 */
export function decideOne(states: States, rule: Rule, key: string, cost: number, owner: object): Decision {
  const { limit } = rule;
  const { nowMicros } = states;
  const found = states.find(rule, key);
  evaluate(limit, found, nowMicros, cost, verdict);
  const allowed = verdict.waitMicros === 0;
  let receipt: Receipt | undefined;
  if ((allowed && !onlyTests(limit)) || limit.countRejected) {
    const state = found ?? states.create(rule, key);
    const { life } = state;
    const { atMicros } = verdict;
    limit.record(state, nowMicros, cost, verdict);
    states.save(state, limit);
    receipt = new Receipt(owner, [new RecordedHit(rule, key, life, atMicros, nowMicros, cost)]);
  }
  return new DecisionWithReceipt(rule.name, toLimitDecision(limit, allowed, verdict, allowed), receipt);
}
