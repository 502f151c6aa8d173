import type { Decision, LimitDecision } from '@rollgate/core';
import { type Costs, type Plan, toDecision } from '@rollgate/core/store';

/** Creates the decision of a plan. The reported limit may be an estimate, which a decision of `toDecision` does not have. */
export function toLeasedDecision(
  { rules }: Plan,
  results: readonly LimitDecision[],
  receipt: unknown,
  costs: Costs,
): Decision {
  const decision = toDecision(rules, results, receipt, costs) as { -readonly [Name in keyof Decision]: Decision[Name] };
  if (results.some((result) => result.remainingIsEstimate && isReported(result, decision))) {
    decision.remainingIsEstimate = true;
  }
  return decision;
}

function isReported(result: LimitDecision, decision: Decision): boolean {
  return (
    result.remaining === decision.remaining && result.limit === decision.limit && result.resetMs === decision.resetMs
  );
}
