import type { Awaitable, Decision, Limit, Store } from '@rollgate/core';
import {
  divideReceipt,
  FallbackReceipt,
  HeldLeases,
  NO_DECISION,
  RecordedHit,
  recordedHitsOf,
  resolveSettledCosts,
  settleDecision,
  unsupported,
  wakeWaiters,
  withMembers,
} from '@rollgate/core/limits';
import {
  hasMethods,
  invalidOption,
  type LimitedReceipt,
  mapAwaitable,
  type Rule,
  readReceipt,
  type SettledCosts,
  settledCost,
  withCode,
} from '@rollgate/core/store';

/** Limits by the names of those that they replace. */
export type OtherLimits = Readonly<Record<string, Limit>>;

/** Whether a value is a decision, even one that records nothing, and not a key. */
export function isDecision(value: unknown): value is Decision {
  return readReceipt(value) !== NO_DECISION;
}

/**
 * Settles the check of a decision with leases. Other limits replace those of the check, and their settlements change its states. Does
 * nothing if the check was rejected or settled before.
 *
 * @param keepOpen Whether limits stay as they are that have neither another limit nor a cost, for a later settlement.
 * @param toLimits Returns the other limits. It gets no rules if the check has no leases.
 */
export function settleByLimits(
  decision: Decision,
  { cost, keepOpen }: { cost: unknown; keepOpen: boolean },
  toLimits: (rules: readonly Rule[]) => OtherLimits,
): Awaitable<void> {
  const held = readReceipt(decision);
  if (held === undefined) return undefined; // A rejected check has taken no lease, and neither has a policy.
  const limits = toLimits(held instanceof HeldLeases ? held.check.plan.rules : []);
  if (!(held instanceof HeldLeases)) {
    throw invalidOption('decision', 'that of a check with leases', decision);
  }
  const store = settlingStore(held.store, limits);
  if (!keepOpen) return settleDecision(store, decision, { cost });
  const costs = resolveSettledCosts(decision, { cost });
  const isClosed = (rule: Rule) => {
    const settled = settledCost(costs, rule);
    // Slots that cost something stay taken until a release, which the rest of the receipt needs to find them.
    return Object.hasOwn(limits, rule.name) || settled === 0 || (settled !== undefined && !rule.limit.holdsSlots);
  };
  if (held.openRules.every(isClosed)) return settleDecision(store, decision, { cost });
  return settleSome(store, held, costs, isClosed);
}

/** Settles a check in some of its limits. What it recorded in the others stays, for a later settlement, refund or release. */
function settleSome(
  store: Store,
  held: HeldLeases,
  costs: SettledCosts,
  isSettled: (rule: Rule) => boolean,
): Awaitable<void> {
  const { openRules } = held;
  const left = openRules.filter((rule) => !isSettled(rule));
  if (held.isSettled || left.length === openRules.length) return undefined;
  const some = receiptOf(held, openRules.filter(isSettled));
  const rest = receiptOf(held, left);
  const settled = store.settle!(some, costs);
  held.receipt = rest;
  held.openRules = left;
  if (!left.some(({ limit }) => limit.leaseMicros)) held.renewer?.delete(held);
  return mapAwaitable(settled, () => wakeWaiters(store, () => store.namesOfReceipt?.(some)));
}

/** The message for receipts that cannot be divided. */
const INDIVISIBLE =
  'Expected the receipts of the store to have the method `only`, which `keepOpen` needs, got one without it';

function receiptOf({ receipt }: HeldLeases, rules: readonly Rule[]): unknown {
  const names = rules.map(({ name }) => name);
  const some = divideReceipt(receipt, names);
  if (some === undefined) throw withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(INDIVISIBLE));
  return some;
}

/** A store whose settlements use these limits. */
function settlingStore(store: Store, limits: OtherLimits): Store {
  return withMembers(store, {
    backend: store.backend ?? store,
    settle: store.settle && ((receipt, costs) => store.settle!(withLimits(receipt, limits), costs)),
  });
}

/** Returns a receipt whose settlement uses these limits instead of those of the check. */
function withLimits(receipt: unknown, limits: OtherLimits): unknown {
  const toInner = (inner: unknown) => withLimits(inner, limits);
  if (receipt instanceof FallbackReceipt) return new FallbackReceipt(toInner(receipt.receipt));
  const hits = recordedHitsOf(receipt);
  if (hits !== undefined) return hits.map((hit) => withLimit(hit, limits[hit.rule.name]));
  if (hasMethods(receipt, ['withLimits'])) return (receipt as LimitedReceipt).withLimits(limits, toInner);
  throw unsupported('report');
}

function withLimit(hit: RecordedHit, limit: Limit | undefined): RecordedHit {
  if (limit === undefined) return hit;
  const { owner, rule, key, life, atMicros, recordedMicros, cost } = hit;
  const copy = new RecordedHit(owner, { ...rule, limit }, key, cost, life, atMicros, recordedMicros);
  if (hit.isSpent) copy.isSpent = true;
  copy.wantedCost = hit.wantedCost;
  hit.wantedCost = 0; // Only the copy is settled, and a closed call is not renewed.
  return copy;
}
