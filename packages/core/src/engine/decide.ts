import type { Decision } from '../decision/decision.js';
import { combine } from '../decision/to-decision.js';
import { isMetered } from '../limits/capabilities.js';
import { type Costs, costAt, type Rule } from '../plan/plan.js';
import { toLimitDecision } from './evaluate.js';
import { Receipt } from './recorded-hit.js';
import { RuleCheck, recordAll } from './rule-check.js';
import type { Place, States } from './states.js';

/** Where a rule keeps the state of a key. */
export type RulePlace = Place & { readonly rule: Rule };

/**
 * Tests all rules, then records in all of them or in none. Rules with `countRejected` also record a rejected attempt.
 *
 * @param owner The port of the store, for the receipt. Without it, nothing is recorded.
 */
export function decide(states: States, places: readonly RulePlace[], costs: Costs, owner?: object): Decision {
  const checks = places.map(({ rule, key }, index) => new RuleCheck(states, rule, key, costAt(costs, index)));
  const allowed = checks.every(({ passed }) => passed);
  const recording = checks.filter(({ rule, cost }) => allowed || (rule.limit.countRejected && cost > 0));
  const hits = owner === undefined ? [] : recordAll(states, recording);
  const results = checks.map(({ rule, passed, verdict, state }) => {
    const result = toLimitDecision(rule.limit, passed, verdict, allowed);
    if (owner !== undefined || !isMetered(rule.limit)) return result;
    return Object.assign(result, rule.limit.usageOf(state, states.nowMicros));
  });
  const receipt = hits.length === 0 ? undefined : new Receipt(owner!, hits);
  return combine(
    places.map(({ rule }) => rule),
    results,
    receipt,
    costs,
  );
}

/** A rule whose units are recorded whether or not they are free. */
export interface Overdraft extends RulePlace {
  readonly units: number;
}

/** Records units without deciding. */
export function recordOverdrafts(states: States, overdrafts: readonly Overdraft[]): void {
  recordAll(
    states,
    overdrafts.map(({ rule, key, units }) => new RuleCheck(states, rule, key, units)),
    true,
  );
}
