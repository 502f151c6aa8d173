import { type CreditingLimit, closesUsedUp, isConstant } from '../limits/capabilities.js';
import { type Limit, type Mode, OVERDRAW, type State, type Verdict } from '../limits/limit.js';
import { toPlan } from '../plan/constant-limits.js';
import { selectLimits } from '../plan/create-plan.js';
import type { Plan, Rule } from '../plan/plan.js';
import { withCode } from '../validation/error-codes.js';
import { type GiveBack, giveBackOf } from './give-back.js';

/** What gives back units of limits that `credit` cannot give back. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  concurrency: 'Use `release` with the decision that holds the slots',
  block: 'Use `reset`, which opens the key',
  'leaky-bucket': 'Use `refund` with the decision of the caller that gives up its start',
  'reported-quota': 'Its server counts, and reports the new numbers with its next response',
};

/**
 * Returns the plan whose charge gives units back.
 *
 * @throws TypeError if no limit has units to give back, or if `key` names one without.
 */
export function toCreditingPlan(plan: Plan, key: unknown, isBeyond: boolean): Plan {
  const toCrediting = ({ prefix, rules, fallback }: Plan): Plan => {
    const crediting = rules.flatMap((_, index) => toCreditingRule(rules, index, key, isBeyond));
    return toPlan(prefix, crediting, fallback && toCrediting(fallback));
  };
  const selected = selectLimits(plan, key);
  const crediting = toCrediting(selected);
  if (crediting.rules.length === 0) throw notGivenBack(selected.rules[0]!, isBeyond);
  return crediting;
}

/** Returns the rule whose charge gives units back. A limit that decides without a state stays, and so does what closes the keys of one. */
function toCreditingRule(rules: readonly Rule[], index: number, key: unknown, isBeyond: boolean): Rule[] {
  const rule = rules[index]!;
  const { limit } = rule;
  if (isConstant(limit)) return [rule];
  if (closesUsedUp(limit)) return giveBackOf(rules[index - 1]!.limit, isBeyond) === undefined ? [] : [rule];
  const giveBack = giveBackOf(limit, isBeyond);
  const mode = isBeyond ? 'beyond' : 'used';
  if (giveBack !== undefined) return [{ ...rule, limit: toCrediting(limit, giveBack, mode) }];
  if (typeof key === 'object') throw notGivenBack(rule, isBeyond);
  return [];
}

/** Returns the limit with another effect of a charge. */
function toCrediting(limit: Limit, giveBack: GiveBack, givesBack: CreditingLimit['givesBack']): Limit {
  const apply = (state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode) => {
    if (mode !== OVERDRAW) return limit.apply(state, nowMicros, cost, verdict, mode);
    giveBack(state, nowMicros, cost);
    verdict.expiresMicros = limit.expiresMicros(state);
  };
  const own: Partial<CreditingLimit> = { apply, givesBack };
  return new Proxy(limit, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Limit];
      const value: unknown = Reflect.get(target, name, target);
      // Methods of a class may use private fields, which a proxy does not have.
      return typeof value === 'function' && !Object.hasOwn(target, name) ? value.bind(target) : value;
    },
  });
}

function notGivenBack({ name, limit: { algorithm } }: Rule, isBeyond: boolean): TypeError {
  const fix = ALTERNATIVES[algorithm] ?? 'Use `reset`';
  const message = isBeyond
    ? `Expected \`beyond\` for a \`calendarWindow\`, which has periods, got it for \`${name}\` with the algorithm ${algorithm}. Leave out \`beyond\`, or name only limits with periods in \`key\``
    : `Expected a limit whose recorded units \`credit\` can give back, got \`${name}\` with the algorithm ${algorithm}. ${fix}`;
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(message));
}
