import { isLimit, type Limits, type LimitsFrom } from '../plan/create-plan.js';
import type { Plan } from '../plan/plan.js';
import { invalidOption } from '../validation/validate.js';

/**
 * Returns the plan of these limits with one that decides by `fallbackLimits` while the store fails. The algorithms are the same,
 * so that the keys, the costs and the receipts of a plan fit its fallback.
 *
 * @throws TypeError if `fallbackLimits` lacks one of the limits, or has another algorithm for it.
 */
export function withFallbackPlan(plan: Plan, limits: Limits, fallbackLimits: LimitsFrom<Limits>): Plan {
  const given = typeof fallbackLimits === 'function' ? fallbackLimits(limits) : fallbackLimits;
  const rules = plan.rules.map((rule) => {
    const limit = isLimit(limits) ? given : Object(given)[rule.name];
    if (isLimit(limit) && limit.algorithm === rule.limit.algorithm) return { ...rule, limit };
    const option = isLimit(limits) ? 'fallbackLimits' : `fallbackLimits.${rule.name}`;
    throw invalidOption(
      option,
      `a limit with the algorithm of its counterpart in \`limits\`, ${rule.limit.algorithm}`,
      limit,
    );
  });
  return { ...plan, fallback: { ...plan, rules } };
}
