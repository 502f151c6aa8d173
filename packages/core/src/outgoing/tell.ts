import type { Awaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { readReceipt } from '../decision/take-receipt.js';
import { resolveSettledCosts, settleDecision } from '../limiter/settlement.js';
import { holdsSlots, type Limit } from '../limits/limit.js';
import { unknownLimitMessage } from '../plan/limit-names.js';
import { type Keys, type Plan, type Rule, type SettledCosts, settledCost } from '../plan/plan.js';
import { HeldSlots } from '../slots/held-slots.js';
import type { Store } from '../store/store.js';
import { withCode } from '../validation/error-codes.js';
import { invalidOption } from '../validation/validate.js';
import { settlePart } from './settle-part.js';
import { isTellable, parseTold } from './told.js';
import { withLimits } from './with-limits.js';

/** The message for a limiter without a limit for the numbers. */
const NOT_TELLABLE =
  'Expected a limit of `toldQuota()`, got none. Add one to `limits`, such as `api: toldQuota({ lease: … })`';

/** Limits by the names of those that they replace. */
export type Tellings = Readonly<Record<string, Limit>>;

/**
 * Returns the limits whose charges and settlements set these numbers.
 *
 * @param told Numbers for all limits of `toldQuota`, or a record of numbers by their names.
 * @throws TypeError, RangeError if the numbers are invalid or of another limit.
 */
export function toTellings(rules: readonly Pick<Rule, 'name' | 'limit'>[], told: unknown, ageMs: number): Tellings {
  const tellable = rules.flatMap(({ name, limit }) => (isTellable(limit) ? [{ name, limit }] : []));
  if (tellable.length === 0) throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(NOT_TELLABLE));
  if (!isRecord(told)) {
    const numbers = parseTold('told', told, ageMs);
    return Object.fromEntries(tellable.map(({ name, limit }) => [name, limit.telling(numbers)]));
  }
  const names = tellable.map(({ name }) => name);
  const unknown = Object.keys(told).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(unknownLimitMessage('told', unknown, names)));
  }
  return Object.fromEntries(
    tellable.flatMap(({ name, limit }) => {
      const own = Object.hasOwn(told, name) ? told[name] : undefined;
      return own === undefined ? [] : [[name, limit.telling(parseTold(`told.${name}`, own, ageMs))]];
    }),
  );
}

/** Without any number, a `tell` with `keepOpen` leaves the reported quotas open. */
function isEmpty(told: unknown): boolean {
  return typeof told === 'object' && told !== null && Object.keys(told).length === 0;
}

function isRecord(told: unknown): told is Record<string, unknown> {
  return typeof told === 'object' && told !== null && Object.values(told).some((one) => typeof one === 'object');
}

/**
 * Closes the call of a check, and sets the numbers of its response. Does nothing if the check was settled before.
 *
 * @param keepOpen Whether limits with neither numbers nor a cost stay as they are, for a later settlement.
 */
export function tellDecision(
  decision: Decision,
  { told, cost, keepOpen }: { told: unknown; cost: unknown; keepOpen: boolean },
): Awaitable<void> {
  const held = readReceipt(decision);
  if (held === undefined) return undefined; // A rejected check has opened no call, and neither has a policy.
  if (!(held instanceof HeldSlots)) {
    throw withCode(
      'ERR_ROLLGATE_INVALID_OPTION',
      invalidOption('decision', 'that of a limit of `toldQuota()`', decision),
    );
  }
  const tellings = keepOpen && isEmpty(told) ? {} : toTellings(held.check.plan.rules, told, 0);
  const store = tellingStore(held.store, tellings);
  if (!keepOpen) return settleDecision(store, decision, { cost });
  const costs = resolveSettledCosts(decision, { cost });
  const isClosed = (rule: Rule) => {
    const settled = settledCost(costs, rule);
    // Slots that cost something stay taken until a release, which the rest of the receipt needs to find them.
    return Object.hasOwn(tellings, rule.name) || settled === 0 || (settled !== undefined && !holdsSlots(rule.limit));
  };
  if (held.openRules.every(isClosed)) return settleDecision(store, decision, { cost });
  return settlePart(store, held, costs, isClosed);
}

/** A store whose settlements use these limits. */
function tellingStore(store: Store, tellings: Tellings): Store {
  const own = {
    backend: store.backend ?? store,
    namesOf: store.namesOf && ((plan: Plan, keys: Keys) => store.namesOf!(plan, keys)),
    namesOfReceipt: store.namesOfReceipt && ((receipt: unknown) => store.namesOfReceipt!(receipt)),
    settle:
      store.settle && ((receipt: unknown, costs: SettledCosts) => store.settle!(withLimits(receipt, tellings), costs)),
  };
  return own as unknown as Store;
}
