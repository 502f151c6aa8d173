import type { Decision, LimitDecision } from '../decision/decision.js';
import { DecisionWithReceipt, NO_LIMITS } from '../decision/decision-with-receipt.js';
import { RecordedHit } from '../decision/receipt.js';
import { toDecision } from '../decision/to-decision.js';
import {
  CHECK,
  closesUsedUp,
  createVerdict,
  type Limit,
  OVERDRAW,
  RECORD,
  type State,
  TEST,
  type Verdict,
} from '../limits/limit.js';
import { type Costs, costAt, type Keys, keyAt, type Rule } from '../plan/plan.js';
import type { KeyState, Place, States } from './states.js';

/** What an operation knows of one of its limits. */
class Trial {
  readonly verdict = createVerdict();
  state: KeyState | undefined = undefined;
  /** Whether the limit allows the action. Its verdict may change when it records. */
  passes = false;
  /** Whether a rejected check closes the key. */
  begins = false;
}

/** The trials of all operations, because none begins before another one ends. The first one serves checks by one limit. */
const trials = [new Trial()];
const [{ verdict: onlyVerdict }] = trials as [Trial];

/**
 * Checks an action: decides, and records it in all limits or in none. Limits with `countRejected` also record a rejected attempt.
 *
 * @param owner The port of the store, for the receipt.
 */
export function check(states: States, rules: readonly Rule[], keys: Keys, costs: Costs, owner: object): Decision {
  if (rules.length > 1 || costs === 0) return checkAll(states, rules, keys, costs, owner);
  // A single limit decides and records in one step.
  const rule = rules[0]!;
  const { name, violated } = rule;
  const { limit } = rule;
  if (violated === undefined) return checkAll(states, rules, keys, costs, owner);
  const key = typeof keys === 'string' ? keys : keys[0]!;
  const cost = costs as number;
  const { limit: quota, countRejected, testsOnly } = limit;
  const { nowMicros } = states;
  const verdict = onlyVerdict;
  const state = states.find(rule, key);
  if (state.isNew) applyToNew(states, state, rule, key, cost, verdict);
  else limit.apply(state, nowMicros, cost, verdict, CHECK);
  const allowed = verdict.waitMicros === 0;
  let receipt: RecordedHit | undefined;
  if ((allowed && !testsOnly) || countRejected) {
    states.save(state, verdict.expiresMicros);
    receipt = new RecordedHit(owner, rule, key, cost, state.life, verdict.atMicros, nowMicros);
  } else {
    const leftMicros = verdict.expiresMicros - nowMicros;
    if (verdict.resetMicros > leftMicros || verdict.waitMicros > leftMicros) capWaits(limit, verdict, nowMicros);
  }
  const { delayMicros } = verdict;
  // One literal and one call for both outcomes, because V8 has no room to inline two calls of the constructor. One that is not inlined
  // takes a seventh of a check.
  const figures = {
    allowed,
    limit: quota,
    remaining: verdict.remaining,
    retryAfterMs: verdict.waitMicros / 1000,
    resetMs: verdict.resetMicros / 1000,
    nextUnitMs: limit.holdsSlots ? undefined : verdict.nextUnitMicros / 1000,
    delayMs: allowed && delayMicros > 0 ? delayMicros / 1000 : 0, // A quotient takes a box, even if it is 0.
    reason: allowed ? undefined : verdict.reason,
    retryIsEstimate: !allowed && verdict.isEstimate && limit.leaseMicros ? true : undefined,
  };
  return new DecisionWithReceipt(name, figures, allowed ? NO_LIMITS : violated, receipt, false);
}

/** Decides without recording. */
export function peek(states: States, rules: readonly Rule[], keys: Keys, costs: Costs): Decision {
  const { nowMicros } = states;
  const allowed = testAll(states, rules, keys, costs);
  const results = rules.map(({ limit }, index) => {
    const trial = trials[index]!;
    capWaits(limit, trial.verdict, nowMicros);
    const result = toLimitDecision(limit, trial, allowed);
    const state = takeState(trial);
    return limit.usageOf ? withUsage(result, limit, state.isNew ? undefined : state, nowMicros) : result;
  });
  return toDecision(rules, results, undefined, costs);
}

/** Like `apply` of a check, for a key without a state. It gets one only if the action is recorded. */
function applyToNew(states: States, state: KeyState, rule: Rule, key: string, cost: number, verdict: Verdict): void {
  const { limit } = rule;
  const { nowMicros } = states;
  if (limit.testsOnly || (cost > limit.limit && !limit.countRejected)) {
    states.blank(state, limit);
    limit.apply(state, nowMicros, cost, verdict, TEST);
    if (limit.testsOnly || verdict.waitMicros > 0) return;
  }
  states.begin(state, rule, key);
  limit.apply(state, nowMicros, cost, verdict, CHECK);
}

/** Checks an action by several limits. All of them test before one records. A limit with cost 0 only reports. */
function checkAll(states: States, rules: readonly Rule[], keys: Keys, costs: Costs, owner: object): Decision {
  const { nowMicros } = states;
  const allowed = testAll(states, rules, keys, costs);
  // All states exist before the first one changes, so that a store can make room for them first.
  for (let index = 0; index < rules.length; index++) {
    const trial = trials[index]!;
    const state = trial.state!;
    const rule = rules[index]!;
    if (!allowed) trial.begins = beginsBlock(rules, index, costs);
    if (state.isNew && isRecorded(rule, trial, allowed, costAt(costs, index)))
      states.begin(state, rule, keyAt(keys, index));
  }
  // Arrays of their final length, because an array that grows takes more time and memory than the rest.
  const results = new Array<LimitDecision>(rules.length);
  const hits = allowed ? new Array<RecordedHit>(rules.length) : [];
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!;
    const trial = trials[index]!;
    const { verdict } = trial;
    const state = takeState(trial);
    const cost = costAt(costs, index);
    if (isRecorded(rule, trial, allowed, cost)) {
      const isOverdraft = allowed && !trial.passes;
      rule.limit.apply(state, nowMicros, cost, verdict, isOverdraft ? OVERDRAW : RECORD);
      states.save(state, verdict.expiresMicros);
      const hit = new RecordedHit(owner, rule, keyAt(keys, index), cost, state.life, verdict.atMicros, nowMicros);
      if (isOverdraft) describeOverdraft(states, rule.limit, state, cost, verdict);
      if (allowed) hits[index] = hit;
      else hits.push(hit);
    } else {
      capWaits(rule.limit, verdict, nowMicros);
      if (allowed) hits[index] = RecordedHit.none(owner, rule, keyAt(keys, index), nowMicros);
    }
    const result = toLimitDecision(rule.limit, trial, allowed);
    results[index] = result;
    if (rule.limit.addPeriod) withUsage(result, rule.limit, state, nowMicros);
  }
  return toDecision(rules, results, hits.length === 0 ? undefined : hits, costs);
}

/** Whether a check by several rules records this cost for one of them. `allowed` says whether all of them allow it. */
function isRecorded({ limit }: Rule, { begins }: Trial, allowed: boolean, cost: number): boolean {
  return cost > 0 && (allowed ? !limit.testsOnly : limit.countRejected || begins);
}

/**
 * Whether the rule closes its key, because too few units are free in the limit before it. A cost that never is allowed closes no key. Its
 * result is that of a closed key then.
 */
function beginsBlock(rules: readonly Rule[], index: number, costs: Costs): boolean {
  const trial = trials[index]!;
  if (!closesUsedUp(rules[index]!.limit) || !trial.passes) return false;
  const { passes, verdict } = trials[index - 1]!;
  const cost = costAt(costs, index);
  trial.passes = passes || cost <= verdict.remaining || cost > rules[index - 1]!.limit.limit;
  return !trial.passes;
}

/** Tests an action by all limits, and leaves the results in `trials`. Returns whether all allow it. */
function testAll(states: States, rules: readonly Rule[], keys: Keys, costs: Costs): boolean {
  const { nowMicros } = states;
  let allowed = true;
  while (trials.length < rules.length) trials.push(new Trial());
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!;
    const { limit } = rule;
    const trial = trials[index]!;
    const { verdict } = trial;
    const cost = costAt(costs, index);
    const state = states.find(rule, keyAt(keys, index));
    if (state.isNew) states.blank(state, limit);
    limit.apply(state, nowMicros, cost === 0 ? 1 : cost, verdict, TEST);
    if (cost === 0) verdict.waitMicros = verdict.delayMicros = 0;
    trial.state = state;
    trial.passes = verdict.waitMicros === 0;
    if (!trial.passes && limit.enforced !== false) allowed = false;
  }
  return allowed;
}

/** Fills in the figures after an overdraft, which has left only the reason of the action itself. */
function describeOverdraft({ nowMicros }: States, limit: Limit, state: State, cost: number, verdict: Verdict): void {
  const { reason } = verdict;
  limit.apply(state, nowMicros, cost, verdict, TEST);
  capWaits(limit, verdict, nowMicros);
  verdict.reason = reason;
}

/** Returns the state, which the trial no longer has then, so that its store can be collected. */
function takeState(trial: Trial): KeyState {
  const state = trial.state!;
  trial.state = undefined;
  return state;
}

/**
 * Ends the waits of a test when the state expires, because an expired state rejects nothing. It expires when the limit that
 * recorded last says so. Waits for slots are advice.
 */
function capWaits(limit: Limit, verdict: Verdict, nowMicros: number): void {
  const leftMicros = verdict.expiresMicros - nowMicros;
  if (leftMicros <= 0 || limit.holdsSlots) return; // There is no state.
  if (verdict.waitMicros > leftMicros && verdict.waitMicros < Infinity) verdict.waitMicros = leftMicros;
  if (verdict.resetMicros > leftMicros) verdict.resetMicros = leftMicros;
  if (verdict.nextUnitMicros > leftMicros) verdict.nextUnitMicros = leftMicros;
}

/**
 * Converts the verdict of one limit into its result.
 *
 * @param allowed Whether all limits allowed the action.
 */
function toLimitDecision(limit: Limit, { verdict, passes }: Trial, allowed: boolean): LimitDecision {
  const { waitMicros, nextUnitMicros, delayMicros } = verdict;
  const figures = {
    allowed: passes,
    limit: limit.limit,
    remaining: verdict.remaining,
    retryAfterMs: allowed && passes ? 0 : waitMicros / 1000,
    resetMs: verdict.resetMicros / 1000,
    nextUnitMs: limit.holdsSlots ? undefined : nextUnitMicros / 1000,
    delayMs: allowed && delayMicros > 0 ? delayMicros / 1000 : 0,
  };
  if (passes) return figures;
  // A copy of the figures with more properties would take ten times as long as the rest of the check.
  const result = figures as typeof figures & { reason: Verdict['reason']; retryIsEstimate?: boolean };
  result.reason = verdict.reason;
  if (verdict.isEstimate && limit.leaseMicros) result.retryIsEstimate = true;
  return result;
}

/** Adds to a new result how the used units divide, and the period in which they count if the limit has one. */
function withUsage(result: LimitDecision, limit: Limit, state: State | undefined, nowMicros: number): LimitDecision {
  Object.assign(result, limit.usageOf!(state, nowMicros));
  limit.addPeriod?.(result, nowMicros);
  return result;
}

/** A rule whose units are recorded whether or not they are free. */
export interface Overdraft extends Place {
  readonly rule: Rule;
  readonly units: number;
}

/** Records units without deciding. A limit that gives units back does so, if its key has a state. */
export function recordOverdrafts(states: States, overdrafts: readonly Overdraft[]): void {
  const changing = overdrafts.filter(({ rule }) => !rule.limit.testsOnly);
  const found = changing.map(({ rule, key }) => states.find(rule, key));
  // All states exist before the first one changes, so that a store can make room for them first.
  changing.forEach(({ rule, key }, index) => {
    if (found[index]!.isNew && rule.limit.givesBack !== 'used') states.begin(found[index]!, rule, key);
  });
  changing.forEach(({ rule, units }, index) => {
    if (found[index]!.isNew) return;
    rule.limit.apply(found[index]!, states.nowMicros, units, onlyVerdict, OVERDRAW);
    states.save(found[index]!, onlyVerdict.expiresMicros);
  });
}
