/** An app has few limits. If it has more, for example because requests choose them, the oldest ones are created again. */
const MOST_LIMITS = 1000;

/**
 * Returns a function that creates limits once for the same arguments. Some rate limiters pass the numbers of a limit with
 * each call, and a limiter keeps a plan for each limit that it gets.
 */
export function cacheLimits<const Args extends readonly unknown[], Created>(
  create: (...args: Args) => Created,
): (...args: Args) => Created {
  const created = new Map<string, Created>();
  return (...args) => {
    const id = args.join(' ');
    const known = created.get(id);
    if (known !== undefined) return known;
    const limits = create(...args);
    if (created.size === MOST_LIMITS) created.delete(created.keys().next().value!);
    created.set(id, limits);
    return limits;
  };
}
