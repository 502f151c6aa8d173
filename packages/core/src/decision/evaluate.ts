import { createVerdict, holdsSlots, type Limit, type State, type Verdict } from '../limits/limit.js';
import { type Costs, costAt, type Rule } from '../plan/plan.js';
import type { LimitDecision } from './decision.js';
import { DetachedState } from './detached-state.js';

/** A state that a store has found: it has not expired and is plausible. */
export interface FoundState extends State {
  readonly expiresMicros: number;
}

/** The result of {@link decideAll}. */
export interface RulesDecision {
  readonly allowed: boolean;
  readonly results: readonly LimitDecision[];
  /** For each rule that recorded, the time that identifies its hit. */
  readonly hitsMicros: readonly (number | undefined)[];
}

/** The state of a key without one. Tests leave it unchanged. */
const blank = new DetachedState(new Float64Array(16));

/** Fills in the limit's verdict on a state that was found, or on a new one. Changes no state. */
export function evaluate(
  limit: Limit,
  found: FoundState | undefined,
  nowMicros: number,
  cost: number,
  verdict: Verdict,
): void {
  if (found === undefined) {
    if (blank.size < limit.stateSize) blank.resize(limit.stateSize);
    limit.create(blank);
    limit.test(blank, nowMicros, cost, verdict);
    return;
  }
  limit.test(found, nowMicros, cost, verdict);
  if (holdsSlots(limit)) return; // Its waits are advice.
  // An expired state rejects nothing, and it expires when the limit that recorded last says so.
  const leftMicros = found.expiresMicros - nowMicros;
  if (verdict.waitMicros > leftMicros && cost <= limit.limit) verdict.waitMicros = leftMicros;
  if (verdict.resetMicros > leftMicros) verdict.resetMicros = leftMicros;
}

/** The verdict on an overdraft has no meaning. */
const scratch = createVerdict();

/** Records units in a state that was found or created, whether or not they are free. */
export function recordOverdraft(limit: Limit, state: State, nowMicros: number, units: number): void {
  limit.test(state, nowMicros, units, scratch);
  limit.record(state, nowMicros, units, scratch);
}

/**
 * Tests all rules, then records in all of them or in none. Rules with `countRejected` also record a rejected attempt.
 *
 * @param found The state of each rule, as far as its store has found one.
 * @param create Creates the state of the rule at `index`, or returns the one that was found. Without it, nothing is
 * recorded.
 */
export function decideAll(
  rules: readonly Rule[],
  found: readonly (FoundState | undefined)[],
  nowMicros: number,
  costs: Costs,
  create: ((index: number) => State) | undefined,
): RulesDecision {
  const verdicts = rules.map(({ limit }, index) => {
    const verdict = createVerdict();
    const cost = costAt(costs, index);
    evaluate(limit, found[index], nowMicros, cost === 0 ? 1 : cost, verdict);
    // Without a cost, the rule only reports.
    if (cost === 0) verdict.waitMicros = verdict.delayMicros = 0;
    return verdict;
  });
  const passed = verdicts.map(({ waitMicros }) => waitMicros === 0);
  const allowed = passed.every(Boolean);
  // All states exist before the first one changes, so that a store can make room for them first.
  const states = rules.map(({ limit }, index) =>
    (allowed || limit.countRejected) && costAt(costs, index) > 0 ? create?.(index) : undefined,
  );
  const hitsMicros = rules.map(({ limit }, index) => {
    const state = states[index];
    if (state === undefined) return undefined;
    const verdict = verdicts[index]!;
    const { atMicros } = verdict;
    limit.record(state, nowMicros, costAt(costs, index), verdict);
    return atMicros;
  });
  const results = rules.map(({ limit }, index) => toResult(limit, passed[index]!, verdicts[index]!, allowed));
  return { allowed, results, hitsMicros };
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/**
 * Converts the verdict of one limit into its result.
 *
 * @param allowed Whether all limits allowed the action.
 */
export function toResult(limit: Limit, passed: boolean, verdict: Verdict, allowed: boolean): LimitDecision {
  const result: Mutable<LimitDecision> = {
    allowed: passed,
    limit: limit.limit,
    remaining: verdict.remaining,
    retryAfterMs: allowed ? 0 : verdict.waitMicros / 1000,
    resetMs: verdict.resetMicros / 1000,
    delayMs: allowed ? verdict.delayMicros / 1000 : 0,
  };
  if (passed) return result;
  // A copy of `result` with more properties would take ten times as long as the rest of the check.
  result.reason = verdict.reason;
  if (holdsSlots(limit) && verdict.waitMicros !== Infinity) result.retryIsEstimate = true;
  return result;
}
