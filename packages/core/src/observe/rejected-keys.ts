import { formatKey, toTextKey } from '../events/limiter-event.js';
import type { DecisionEvent } from '../limiter/rate-limiter.js';
import { toStoredKey } from '../store/stored-key.js';
import { subscribe } from '../util/platform.js';
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

/** The last rejection of a key. */
interface Rejected {
  /** The key, with numbers as text; or its hash, as in a store, if it has more than 200 characters. */
  readonly key: string | Readonly<Record<string, string>>;
  /** The limiter's option `name`. */
  readonly limiter: string;
  /** The limits that rejected it last. */
  readonly violated: readonly string[];
}

/** A key that was rejected. */
export interface RejectedKey extends Rejected {
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
  const heaviest = new Heaviest<Rejected>(validateIntegerBetween('max', max, 1, 1_000_000));
  const unsubscribe = subscribe('rollgate:rejection', (event) => {
    const { name, key, decision } = event as DecisionEvent;
    const text = formatKey(key);
    // The hash of a long key, so that clients who choose their key cannot fill the memory.
    const stored = toStoredKey(text);
    const counted = stored === text ? toTextKey(key) : stored;
    heaviest.add(JSON.stringify([name, stored]), { key: counted, limiter: name, violated: decision.violated });
  });
  return {
    top: (count = 10) =>
      heaviest
        .top(validateIntegerBetween('count', count, 0, Number.MAX_SAFE_INTEGER))
        .map(({ last, count, overcount }) => ({ ...last, count, overcount })),
    close: unsubscribe,
  };
}
