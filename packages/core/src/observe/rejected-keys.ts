import { subscribe } from '../base/platform.js';
import type { DecisionEvent } from '../limiter/rate-limiter.js';
import type { Key } from '../plan/keys-and-limits.js';
import { validateIntegerBetween, validateOptionNames } from '../validation/validate.js';
import { Heaviest } from './heaviest.js';

/** The options of {@link rejectedKeys}. */
export interface RejectedKeysOptions {
  /**
   * The number of keys that are counted. A further key takes the place of one with the fewest rejections.
   *
   * @defaultValue 1000
   */
  max?: number | undefined;
}

/** A key that was rejected. */
export interface RejectedKey {
  /** The key as the caller passed it. */
  readonly key: Key;
  /** The limiter's option `name`. */
  readonly limiter: string;
  /** The limits that rejected it last. */
  readonly violated: readonly string[];
  /** Rejections, including those that came before and that the key may have taken over from others. */
  readonly count: number;
  /** The most by which `count` is too high. 0 until there have been more than `max` keys. */
  readonly overcount: number;
}

/** The keys with the most rejections in this process. */
export interface RejectedKeys {
  /**
   * Returns the keys with the most rejections since the start, most first.
   *
   * @param count How many; default 10.
   */
  top(count?: number): RejectedKey[];
  /** Ends the counting. */
  close(): void;
}

/**
 * Counts the rejections of each key of all limiters in this process, in bounded memory. A rejection updates one counter.
 * Every key with more than 1/`max` of all rejections is among the counted ones.
 *
 * The algorithm is Space-Saving: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data
 * Streams", ICDT 2005.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { rejectedKeys } from '@rollgate/core/observe';
 *
 * const rejected = rejectedKeys();
 * const limiter = new RateLimiter({ name: 'logins', limits: '1/1m' });
 * for (let attempt = 0; attempt < 3; attempt++) await limiter.check('ann');
 * rejected.top(); // => [{ key: 'ann', limiter: 'logins', violated: ['default'], count: 2, overcount: 0 }]
 * rejected.close();
 * ```
 */
export function rejectedKeys(options: RejectedKeysOptions = {}): RejectedKeys {
  validateOptionNames('rejectedKeys', options, ['max']);
  const { max = 1000 } = options;
  const heaviest = new Heaviest<DecisionEvent>(validateIntegerBetween('max', max, 1, 1_000_000));
  const unsubscribe = subscribe('rollgate:rejection', (event) => {
    const { name, key } = event as DecisionEvent;
    heaviest.add(typeof key === 'string' ? `${name} ${key}` : `${name} ${JSON.stringify(key)}`, event as DecisionEvent);
  });
  return {
    top: (count = 10) =>
      heaviest
        .top(validateIntegerBetween('count', count, 0, Number.MAX_SAFE_INTEGER))
        .map(({ last, count, overcount }) => ({
          key: last.key,
          limiter: last.name,
          violated: last.decision.violated,
          count,
          overcount,
        })),
    close: unsubscribe,
  };
}
