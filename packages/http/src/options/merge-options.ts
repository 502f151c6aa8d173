import { ROLLING_WINDOW_OPTIONS } from '@rollgate/core/store';

/**
 * Overrides the options of an app with those of one of its routes. A route with `limits` inherits no window settings, and
 * vice versa. A route with either does not inherit the limits of an outage.
 */
export function mergeOptions<Merged>(app: object, route: object): Merged {
  const inherited: { [name: string]: unknown } = { ...app };
  const given = Object.entries(route).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  const drop = (...dropped: string[]) => {
    for (const name of dropped) delete inherited[name];
  };
  if (names.includes('limits')) drop(...ROLLING_WINDOW_OPTIONS, 'fallbackLimits');
  if (ROLLING_WINDOW_OPTIONS.some((name) => names.includes(name))) drop('limits', 'fallbackLimits');
  return { ...inherited, ...Object.fromEntries(given) } as Merged;
}
