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
import { isReportable, parseReported } from './reported.js';
import { settlePart } from './settle-part.js';
import { withLimits } from './with-limits.js';

/** The message for a limiter without a limit for the numbers. */
const NOT_REPORTABLE =
  'Expected a limit of `reportedQuota()`, got none. Add one to `limits`, such as `api: reportedQuota({ lease: … })`';

/** Limits by the names of those that they replace. */
export type ReportingLimits = Readonly<Record<string, Limit>>;

/**
 * Returns the limits whose charges and settlements set these numbers.
 *
 * @param reported Numbers for all limits of `reportedQuota`, or a record of numbers by their names.
 * @throws TypeError, RangeError if the numbers are invalid or of another limit.
 */
export function toReportingLimits(
  rules: readonly Pick<Rule, 'name' | 'limit'>[],
  reported: unknown,
  ageMs: number,
): ReportingLimits {
  const reportable = rules.flatMap(({ name, limit }) => (isReportable(limit) ? [{ name, limit }] : []));
  if (reportable.length === 0) throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(NOT_REPORTABLE));
  if (!isRecord(reported)) {
    const numbers = parseReported('reported', reported, ageMs);
    return Object.fromEntries(reportable.map(({ name, limit }) => [name, limit.reporting(numbers)]));
  }
  const names = reportable.map(({ name }) => name);
  const unknown = Object.keys(reported).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(unknownLimitMessage('reported', unknown, names)));
  }
  return Object.fromEntries(
    reportable.flatMap(({ name, limit }) => {
      const own = Object.hasOwn(reported, name) ? reported[name] : undefined;
      return own === undefined ? [] : [[name, limit.reporting(parseReported(`reported.${name}`, own, ageMs))]];
    }),
  );
}

/** Without any number, a `report` with `keepOpen` leaves the reported quotas open. */
function isEmpty(reported: unknown): boolean {
  return typeof reported === 'object' && reported !== null && Object.keys(reported).length === 0;
}

function isRecord(reported: unknown): reported is Record<string, unknown> {
  return (
    typeof reported === 'object' && reported !== null && Object.values(reported).some((one) => typeof one === 'object')
  );
}

/**
 * Closes the call of a check, and sets the numbers of its response. Does nothing if the check was settled before.
 *
 * @param keepOpen Whether limits with neither numbers nor a cost stay as they are, for a later settlement.
 */
export function reportDecision(
  decision: Decision,
  { reported, cost, keepOpen }: { reported: unknown; cost: unknown; keepOpen: boolean },
): Awaitable<void> {
  const held = readReceipt(decision);
  if (held === undefined) return undefined; // A rejected check has opened no call, and neither has a policy.
  if (!(held instanceof HeldSlots)) {
    throw withCode(
      'ERR_ROLLGATE_INVALID_OPTION',
      invalidOption('decision', 'that of a limit of `reportedQuota()`', decision),
    );
  }
  const reportingLimits = keepOpen && isEmpty(reported) ? {} : toReportingLimits(held.check.plan.rules, reported, 0);
  const store = reportingStore(held.store, reportingLimits);
  if (!keepOpen) return settleDecision(store, decision, { cost });
  const costs = resolveSettledCosts(decision, { cost });
  const isClosed = (rule: Rule) => {
    const settled = settledCost(costs, rule);
    // Slots that cost something stay taken until a release, which the rest of the receipt needs to find them.
    return (
      Object.hasOwn(reportingLimits, rule.name) || settled === 0 || (settled !== undefined && !holdsSlots(rule.limit))
    );
  };
  if (held.openRules.every(isClosed)) return settleDecision(store, decision, { cost });
  return settlePart(store, held, costs, isClosed);
}

/** A store whose settlements use these limits. */
function reportingStore(store: Store, reportingLimits: ReportingLimits): Store {
  const own = {
    backend: store.backend ?? store,
    namesOf: store.namesOf && ((plan: Plan, keys: Keys) => store.namesOf!(plan, keys)),
    namesOfReceipt: store.namesOfReceipt && ((receipt: unknown) => store.namesOfReceipt!(receipt)),
    settle:
      store.settle &&
      ((receipt: unknown, costs: SettledCosts) => store.settle!(withLimits(receipt, reportingLimits), costs)),
  };
  return own as unknown as Store;
}
