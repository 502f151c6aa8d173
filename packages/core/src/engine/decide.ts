import type { Decision } from '../decision/decision.js';
import { SingleDecision } from '../decision/single-decision.js';
import { toDecision } from '../decision/to-decision.js';
import { createVerdict } from '../limits/limit.js';
import { type Costs, costAt, type Keys, keyAt, type Rule } from '../plan/plan.js';
import { evaluate, toLimitDecision } from './evaluate.js';
import { Receipt, RecordedHit } from './recorded-hit.js';
import { RuleCheck, recordHit } from './rule-check.js';
import type { KeyState, States } from './states.js';

/**
 * Tests all rules, then records in all of them or in none. Rules with `countRejected` also record a rejected attempt.
 *
 * @param keys The keys as stores keep them.
 * @param owner The port of the store, for the receipt.
 */
export function decide(states: States, rules: readonly Rule[], keys: Keys, costs: Costs, owner: object): Decision {
  return rules.length === 1 && costs !== 0
    ? decideOne(states, rules[0]!, keyAt(keys, 0), costAt(costs, 0), owner)
    : decideAll(states, rules, keys, costs, owner);
}

/** Like {@link decide}, but records nothing. */
export function peek(states: States, rules: readonly Rule[], keys: Keys, costs: Costs): Decision {
  const checks = testAll(states, rules, keys, costs);
  return toDecision(rules, toLimitDecisions(checks, checks.every(hasPassed)), undefined, costs);
}

/** A rule whose units are recorded whether or not they are free. */
export interface Overdraft {
  readonly rule: Rule;
  readonly key: string;
  readonly units: number;
}

/** Records units without deciding. */
export function recordOverdrafts(states: States, overdrafts: readonly Overdraft[]): void {
  const found = overdrafts.map(({ rule, key }) => states.find(rule, key));
  const all = overdrafts.map(({ rule, key }, index): KeyState => found[index] ?? states.create(rule, key));
  overdrafts.forEach(({ rule: { limit }, units }, index) => {
    limit.test(all[index]!, states.nowMicros, units, verdict);
    limit.record(all[index]!, states.nowMicros, units, verdict);
    states.save(all[index]!, limit);
  });
}

/** Decides for any number of rules, and also for one. `decide` uses it where {@link decideOne} does not apply. */
export function decideAll(states: States, rules: readonly Rule[], keys: Keys, costs: Costs, owner: object): Decision {
  const checks = testAll(states, rules, keys, costs);
  const allowed = checks.every(hasPassed);
  const recording = checks.filter(({ rule, cost }) => (allowed || rule.limit.countRejected) && cost > 0);
  // All states exist before the first one changes, so that a store can make room for them first.
  for (const check of recording) check.create(states);
  const hits = recording.map((check) => check.record(states));
  if (allowed) {
    for (const { rule, key, cost } of checks) if (cost === 0) hits.push(RecordedHit.none(rule, key, states.nowMicros));
  }
  const receipt = hits.length === 0 ? undefined : new Receipt(owner, hits);
  return toDecision(rules, toLimitDecisions(checks, allowed), receipt, costs);
}

/** One verdict serves all checks of one rule, and all overdrafts, whose verdicts have no meaning. */
const verdict = createVerdict();

/** Does the same for one rule. Without lists, a check takes a third less time: `npm run bench -- fast-ways`. */
function decideOne(states: States, rule: Rule, key: string, cost: number, owner: object): Decision {
  const { limit } = rule;
  const found = states.find(rule, key);
  evaluate(limit, found, states.nowMicros, cost, verdict);
  const allowed = verdict.waitMicros === 0;
  let receipt: Receipt | undefined;
  if (allowed || limit.countRejected) {
    const state = found ?? states.create(rule, key);
    receipt = new Receipt(owner, [recordHit(states, rule, key, cost, state, verdict)]);
  }
  return new SingleDecision(rule.name, toLimitDecision(limit, allowed, verdict, allowed), receipt);
}

function testAll(states: States, rules: readonly Rule[], keys: Keys, costs: Costs): RuleCheck[] {
  return rules.map((rule, index) => new RuleCheck(states, rule, keyAt(keys, index), costAt(costs, index)));
}

const hasPassed = ({ passed }: RuleCheck): boolean => passed;

function toLimitDecisions(checks: readonly RuleCheck[], allowed: boolean) {
  return checks.map((check) => check.toLimitDecision(allowed));
}
