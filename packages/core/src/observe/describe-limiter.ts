import { MAX_TIMER_MS, startBackgroundTimer, type Timer } from '../base/background-timer.js';
import { isMemoryStore } from '../memory/memory-store.js';
import type { StoreInspection } from '../store/capabilities.js';
import type { Store } from '../store/store.js';
import { type Duration, parseInterval } from '../validation/duration.js';
import { unsupported } from '../validation/errors.js';
import { validateOptionNames } from '../validation/validate.js';
import { describeLimit, type LimitDescription } from './describe-limit.js';
import { type Inspected, storeOf } from './keys-of.js';

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

/** A description in a store. */
export interface KeptDescription {
  /** Ends its renewal, so that it expires. */
  close(): void;
}

/** How often a description is written while its process runs, in relation to `expiry`. */
const WRITES_PER_EXPIRY = 3;

/**
 * Writes the limiter's name, prefix and limits to its store, so that the command line can show and change the limits of its keys.
 * Call it once when your app starts. It writes again from time to time, so that the description expires only after all processes
 * with this limiter have ended. A description of the same name and prefix replaces the one before.
 *
 * For a `MemoryStore`, which no other process can read, it does nothing.
 *
 * @throws TypeError, RangeError naming the invalid option, or with the code `ERR_ROLLGATE_UNSUPPORTED_OPERATION` for a store that
 * cannot keep a description. Rejects if the store fails, and then does not try again.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { describeLimiter } from '@rollgate/core/observe';
 *
 * const limiter = new RateLimiter({ name: 'api', prefix: 'api', limits: '100/1m' });
 * const description = await describeLimiter(limiter);
 * description.close();
 * ```
 */
export async function describeLimiter(
  limiter: Inspected & Pick<LimiterDescription, 'name' | 'prefix'>,
  options: DescribeLimiterOptions = {},
): Promise<KeptDescription> {
  validateOptionNames('describeLimiter', options, ['expiry']);
  const expiryMs = parseInterval('expiry', options.expiry ?? '1d');
  const internals = limiter.internals();
  const { plan } = internals;
  const store = storeOf(internals.store);
  if (isMemoryStore(store)) return { close() {} };
  const inspection = inspectionOf(store);
  const { name, prefix } = limiter;
  const limits = Object.fromEntries(plan.rules.map((rule) => [rule.name, describeLimit(rule.limit)]));
  const description: LimiterDescription = { name, prefix, limits, store: inspection.options };
  const text = JSON.stringify(description, (_, value: unknown) => (value === Infinity ? 'Infinity' : value));
  const write = async () => inspection.writeNote(JSON.stringify([name, prefix]), text, expiryMs);
  await write();
  return renew(write, expiryMs / WRITES_PER_EXPIRY);
}

/** Returns the descriptions that a store has, sorted by their names. */
export async function describedLimiters(store: Store): Promise<LimiterDescription[]> {
  const texts = await inspectionOf(store).readNotes();
  return texts.flatMap(parse).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the description, or nothing for a text that another program has written. */
function parse(text: string): LimiterDescription[] {
  try {
    const revive = (_: string, value: unknown) => (value === 'Infinity' ? Infinity : value);
    const { name, prefix, limits, store } = JSON.parse(text, revive) as Partial<LimiterDescription>;
    const isWhole = typeof name === 'string' && typeof prefix === 'string' && Object(limits) === limits;
    return isWhole ? [{ name, prefix, limits: limits!, store: { ...store } }] : [];
  } catch {
    return [];
  }
}

function inspectionOf({ inspection }: Store): StoreInspection {
  if (inspection === undefined) throw unsupported('inspection');
  return inspection;
}

/** A renewal that fails is made up for by the next one. */
function renew(write: () => Promise<unknown>, everyMs: number): KeptDescription {
  let timer: Timer;
  const start = () => {
    timer = startBackgroundTimer(
      () => {
        void write().catch(() => {});
        start();
      },
      Math.min(everyMs, MAX_TIMER_MS),
    );
  };
  start();
  return { close: () => clearTimeout(timer) };
}
