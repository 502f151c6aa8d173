import { ROLLING_WINDOW_OPTIONS } from '@rollgate/core/store';

/**
 * Overrides the options of an app with those of one of its routes. A route with `limits` inherits no window settings, and
 * vice versa.
 */
export function mergeOptions<Merged>(app: object, route: object): Merged {
  const inherited: { [name: string]: unknown; limits?: unknown; ipv6Prefix?: unknown } = { ...app };
  const given = Object.entries(route).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  if (names.includes('limits')) for (const name of ROLLING_WINDOW_OPTIONS) delete inherited[name];
  if (ROLLING_WINDOW_OPTIONS.some((name) => names.includes(name))) delete inherited.limits;
  if (names.includes('key')) delete inherited.ipv6Prefix;
  return { ...inherited, ...Object.fromEntries(given) } as Merged;
}
