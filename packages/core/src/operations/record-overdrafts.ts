import { needsState, onlyTests } from '../limits/capabilities.js';
import { createVerdict, OVERDRAW } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import type { Place, States } from './states.js';

/** A rule whose units are recorded whether or not they are free. */
export interface Overdraft extends Place {
  readonly rule: Rule;
  readonly units: number;
}

/** Only its time of expiry has a meaning. */
const verdict = createVerdict();

/** Records units without deciding. A limit that gives units back does so, if its key has a state. */
export function recordOverdrafts(states: States, overdrafts: readonly Overdraft[]): void {
  const changing = overdrafts.filter(({ rule }) => !onlyTests(rule.limit));
  const found = changing.map(({ rule, key }) => states.find(rule, key));
  // All states exist before the first one changes, so that a store can make room for them first.
  changing.forEach(({ rule, key }, index) => {
    if (found[index]!.isNew && !needsState(rule.limit)) states.begin(found[index]!, rule, key);
  });
  changing.forEach(({ rule, units }, index) => {
    if (found[index]!.isNew) return;
    rule.limit.apply(found[index]!, states.nowMicros, units, verdict, OVERDRAW);
    states.save(found[index]!, verdict.expiresMicros);
  });
}
