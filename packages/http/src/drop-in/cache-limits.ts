import { getOrCache } from '@rollgate/core/store';

/**
 * Returns a function that creates limits once for the same arguments. Some rate limiters pass the numbers of a limit with
 * each call, and a limiter keeps a plan for each limit that it gets.
 */
export function cacheLimits<const Args extends readonly unknown[], Created>(
  create: (...args: Args) => Created,
): (...args: Args) => Created {
  const created = new Map<string, Created>();
  return (...args) => getOrCache(created, args.join(' '), () => create(...args));
}
