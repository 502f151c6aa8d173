import type { LimiterInternals } from '../limiter/rate-limiter.js';
import { closesUsedUp } from '../limits/limit.js';
import { isMemoryStore } from '../memory/memory-store.js';
import type { Store } from '../store/store.js';
import { type Duration, parseInterval } from '../validation/duration.js';
import { optionError, validateOptionNames } from '../validation/validate.js';
import { describeLimit, type LimitDescription } from './describe-limit.js';
import { type KeptNote, keepNote } from './keep-writing.js';
import { inspectionOf, storeOf } from './keys-of.js';

/** The part of a `RateLimiter` that {@link describeLimiter} uses. */
interface DescribedLimiter extends Pick<LimiterDescription, 'name' | 'prefix'> {
  internals(): LimiterInternals;
}

/** What a store knows about a limiter, from {@link describeLimiter}. */
export interface LimiterDescription {
  /** The limiter's option `name`. */
  readonly name: string;
  /** The limiter's option `prefix`. */
  readonly prefix: string;
  /** The limits by their names. */
  readonly limits: Readonly<Record<string, LimitDescription>>;
  /** The options of the store that are not those of its connection. */
  readonly store: Readonly<Record<string, string>>;
}

/** The options of {@link describeLimiter}. */
export interface DescribeLimiterOptions {
  /**
   * How long the store keeps the description after the process has ended, at least a second, in milliseconds or as text such as
   * `'12h'`.
   *
   * @defaultValue `'1d'`
   */
  expiry?: Duration | undefined;
}

/**
 * Writes the limiter's name, prefix and limits to its store, so that the command line can show and change the limits of its keys.
 * Call it once when your app starts. It returns at once and writes in the background: until the store has the description, it tries
 * again after a second, and then after twice as long each time, up to a minute. Later it writes again from time to time, so that the
 * description expires only after all processes with this limiter have ended. A description of the same name and prefix replaces the
 * one before. `limiter.close()` ends all of this.
 *
 * For a `MemoryStore`, which no other process can read, it does nothing.
 *
 * @throws TypeError, RangeError naming the invalid option. TypeError for a limiter with neither a `name` nor a `prefix`, and with
 * the code `ERR_ROLLGATE_UNSUPPORTED_OPERATION` for a store that cannot keep a description. A store that fails makes it throw nothing.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { describeLimiter } from '@rollgate/core/observe';
 *
 * const limiter = new RateLimiter({ name: 'api', prefix: 'api', limits: '100/1m' });
 * const description = describeLimiter(limiter);
 * description.close();
 * ```
 */
export function describeLimiter(limiter: DescribedLimiter, options: DescribeLimiterOptions = {}): KeptNote {
  validateOptionNames('describeLimiter', options, ['expiry']);
  const expiryMs = parseInterval('expiry', options.expiry ?? '1d');
  const internals = limiter.internals();
  const { name, prefix } = limiter;
  if (!internals.hasOwnName) {
    const message = `Expected a limiter with a name, got one without \`name\` and \`prefix\`, whose automatic name ${JSON.stringify(name)} may be that of another one in the next process. Pass a \`prefix\` of its own to the limiter, such as \`prefix: 'api'\``;
    throw optionError(message);
  }
  const { plan } = internals;
  const store = storeOf(internals.store);
  if (isMemoryStore(store)) return { ready: Promise.resolve(), close() {} };
  const { options: storeOptions } = inspectionOf(store);
  const limits = Object.fromEntries(
    plan.rules.flatMap(({ name, limit }) => (closesUsedUp(limit) ? [] : [[name, describeLimit(limit)]])),
  );
  const description: LimiterDescription = { name, prefix, limits, store: storeOptions };
  const text = JSON.stringify(description, (_, value: unknown) => (value === Infinity ? 'Infinity' : value));
  const kept = keepNote(store, [name, prefix], () => text, expiryMs);
  internals.ends.push(kept.close);
  return kept;
}

/** Returns the descriptions that a store has, sorted by their names. */
export async function describedLimiters(store: Store): Promise<LimiterDescription[]> {
  const texts = await inspectionOf(store).readNotes();
  return texts.flatMap(parse).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the description, or nothing for a text that another program has written. */
function parse(text: string): LimiterDescription[] {
  try {
    const { name, prefix, limits, store } = JSON.parse(text, reviveInfinity) as Partial<LimiterDescription>;
    const areLimits = Object(limits) === limits && Object.values(limits!).every((limit) => Object(limit) === limit);
    if (typeof name !== 'string' || typeof prefix !== 'string' || !areLimits) return [];
    return [{ name, prefix, limits: limits!, store: { ...store } }];
  } catch {
    return [];
  }
}

/** JSON has no `Infinity`, which only a quota and a block may be. */
function reviveInfinity(name: string, value: unknown): unknown {
  return value === 'Infinity' && ['limit', 'capacity', 'blockFor'].includes(name) ? Infinity : value;
}
