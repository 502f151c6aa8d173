import { type Duration, parseDuration } from '../validation/duration.js';
import {
  invalidOption,
  validateIntegerBetween,
  validateOptionNames,
  validatePositiveInteger,
} from '../validation/validate.js';
import { type RollingWindow, rollingWindow } from './rolling-window.js';

/** The options of {@link lockout}. */
export interface LockoutOptions {
  /**
   * The failed attempts before each lock, a positive safe integer.
   *
   * @defaultValue `5`
   */
  attempts?: number | undefined;
  /**
   * How long the first lock lasts, in milliseconds or as text such as `'15m'`.
   *
   * @defaultValue `'15m'`
   */
  first?: Duration | undefined;
  /**
   * How fast the windows grow, an integer from 2 to 1,000. Each window is this many times as long as the one before it.
   *
   * @defaultValue `4`
   */
  factor?: number | undefined;
  /**
   * The longest window, in milliseconds or as text such as `'1d'`. At least `first` times `factor`.
   *
   * @defaultValue `'1d'`
   */
  max?: Duration | undefined;
}

/**
 * The rolling windows of a lockout, from the shortest to the longest: `lockout1`, `lockout2` and so on. The type names the
 * two that every lockout has.
 */
export type Lockout = Readonly<Record<'lockout1' | 'lockout2', RollingWindow>>;

/**
 * Returns rolling windows that together lock a key for longer each time. Spread them into `limits`, give all of them the
 * same key with {@link sameKey}, and refund or reset after a success.
 *
 * Window `i` allows `attempts * i` attempts. The windows last `first`, then `factor` times as long each, and the last one
 * lasts `max`. If guesses continue as soon as they can, lock `i` lasts as long as window `i` minus window `i - 1`. So no lock
 * is shorter than the one before it. After the last one, the oldest attempts have left all windows, and the locks start
 * over. In any time of `max`, an attacker has at most `attempts` times the number of windows.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { lockout } from '@rollgate/core';
 *
 * const windows = lockout({ attempts: 5, first: '15m', factor: 4, max: '1d' });
 * // 5 in 15 minutes, 10 in an hour, 15 in 4 hours, 20 in a day. They lock for 15 minutes, 45 minutes, 3 and 20 hours.
 * Object.values(windows).map(({ limit }) => limit); // => [5, 10, 15, 20]
 * ```
 */
export function lockout(options: LockoutOptions = {}): Lockout {
  validateOptionNames('lockout', options, ['attempts', 'first', 'factor', 'max']);
  const attempts = validatePositiveInteger('attempts', options.attempts ?? 5);
  const firstMs = parseDuration('first', options.first ?? '15m');
  const factor = validateIntegerBetween('factor', options.factor ?? 4, 2, 1000);
  const maxMs = parseDuration('max', options.max ?? '1d');
  if (maxMs < firstMs * factor) throw invalidOption('max', 'at least `first` times `factor`', options.max ?? '1d');
  const windows: [string, RollingWindow][] = [];
  for (let ms = firstMs; ms <= maxMs; ms *= factor) {
    const number = windows.length + 1;
    // A window that `max` would follow too soon lasts `max` itself, so that the last lock is not a short one.
    const window = `${ms * factor > maxMs ? maxMs : ms}ms`;
    windows.push([`lockout${number}`, rollingWindow({ limit: attempts * number, window })]);
  }
  return Object.fromEntries(windows) as unknown as Lockout;
}

/**
 * Returns a record with this key for each of the limits. In the option `key` of an adapter, it may be `undefined` for the default key.
 *
 * @example
 * ```ts
 * import { lockout, RateLimiter, rollingWindow, sameKey } from '@rollgate/core';
 *
 * const account = lockout();
 * const limiter = new RateLimiter({ limits: { ...account, address: rollingWindow({ limit: 50, window: '1h' }) } });
 * const decision = await limiter.check({ ...sameKey(account, 'ann'), address: '192.0.2.1' });
 * decision.remaining; // => 4
 * await limiter.reset(sameKey(account, 'ann'));
 * ```
 */
export function sameKey<Name extends string, Value extends string | number | bigint | null | undefined>(
  limits: Readonly<Record<Name, unknown>>,
  key: Value,
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(Object.keys(limits).map((name) => [name, key])) as Record<Name, Value>;
}
