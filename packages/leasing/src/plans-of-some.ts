import type { Plan } from '@rollgate/core/store';

/** Returns a function that returns the plan of some rules. It creates each plan once, because stores keep what follows from a plan. */
export function plansOfSome({ prefix, rules }: Plan): (indices: readonly number[]) => Plan {
  const plans = new Map<string, Plan>();
  return (indices) => {
    const id = indices.join(' ');
    let plan = plans.get(id);
    if (plan === undefined) {
      plan = { prefix, rules: indices.map((index) => rules[index]!) };
      plans.set(id, plan);
    }
    return plan;
  };
}
