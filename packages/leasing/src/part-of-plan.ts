import type { Plan } from '@rollgate/core/store';

/** Returns a function that returns the plan of some rules. It creates each plan once, because stores keep what follows from a plan. */
export function partsOfPlan({ prefix, rules }: Plan): (indices: readonly number[]) => Plan {
  const parts = new Map<string, Plan>();
  return (indices) => {
    const id = indices.join(' ');
    let part = parts.get(id);
    if (part === undefined) {
      part = { prefix, rules: indices.map((index) => rules[index]!) };
      parts.set(id, part);
    }
    return part;
  };
}
