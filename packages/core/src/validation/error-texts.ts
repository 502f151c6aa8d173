import { formatValue } from './validate.js';

/** The message for a call without limits to a limiter that has none. */
export const MISSING_LIMITS =
  'Expected `limits` with this call, got none. The limits of this limiter are `null` or a function. Pass those of the client, such as `peek(key, { limits })`';

/** What `limits` should be. */
export const LIMITS = "a limit such as '100/1m' or `rollingWindow({ … })`, or a record of at least one";

/** What each of them should be. */
export const LIMIT = "a limit such as '100/1m' or `rollingWindow({ … })`";

/** What text in place of a limit should be. */
export const WINDOW_TEXT = "units per window such as '100/1m', '5/1s' or '1000/1d'";

/** What text with the name of a period should be. */
export const PERIOD_TEXT = "units per window such as '1000/1d', or `calendarWindow` for periods of a calendar";

/** What the key of one limit should be. */
export const ONE_KEY = 'a string or a number';

/** What a key should be instead of a large integer, which shares its number with others: 2^53 + 1 is 2^53. */
export const SAFE_KEY = 'a string or a bigint in place of an integer that is not safe';

/** What the keys of all limits should be. */
export const KEYS = 'a string or a number, or a record with one per limit';

/** What the keys of some limits should be. */
export const SOME_KEYS = 'a string or a number, or a record with one for at least one limit';

/** What a list of limits should be. */
export const NAMED_LIMITS = 'a record that names each limit, such as `{ burst: rollingWindow({ … }) }`';

/** The message for a limit in place of the options of a limiter. */
export const BARE_LIMIT =
  'Expected the options of RateLimiter to be an object with `limits`, got a limit. Write `new RateLimiter({ limits: rollingWindow({ … }) })`';

/** The message for a record of limits in place of the options. */
export const BARE_LIMITS =
  'Expected the options of RateLimiter to be an object with `limits`, got a record of limits. Write `new RateLimiter({ limits: { … } })`';

/** The message for `limits` together with options of one rolling window. */
export const mixedLimitsMessage = (options: readonly string[]): string =>
  `Expected either \`limits\` or the settings of one rolling window, got \`limits\` and \`${options.join('`, `')}\`. Remove one of them`;

/** What a duration should be. */
export const DURATION = "a duration such as '1m' or a positive number of milliseconds, at most 100 years";

/** What a duration with an ambiguous unit should have. */
export const CLEAR_UNIT = "a clear unit, such as '1m' for a minute or '30d' for a month";

/** The message for an invalid name of a limit. */
export const describeLimitName = (name: string): string =>
  `Expected each name in \`limits\` to start with a letter or digit and to have at most 64 letters, digits, '_', '.' or '-', got ${formatValue(name)}`;

/** What a timeout should be. */
export const SHORT_TIMEOUT = 'a duration of at most 24 days';

/** What `store` should be. */
export const STORE = 'a store such as `new MemoryStore()`';

/** The warning about a refund that failed, by the limiter's name. */
export const describeRefundFailure = (name: string, reason: string): string =>
  `A refund of the limiter \`${name}\` failed, so the request stays charged: ${reason}`;

/** What `fallbackLimits` need. */
export const FALLBACK_GUARD = 'a store whose `guard` has the method `withFallback`, with `fallbackLimits`';

/** What the counterpart of a limit of `Infinity` should be. */
export const UNLIMITED_FALLBACK = 'Infinity like its counterpart, whose checks call no store that could fail';

/** What a clock should return. */
export const VALID_TIME = 'Expected `clock.now()` to return a finite number of milliseconds below 2^53 / 1000';

/** The message for a `wait` that never ends. */
export const NEVER_ALLOWED =
  'This call can never succeed: its `cost` exceeds a limit, or its key is blocked until a reset';

/** The message for a `wait` that a limit of 0 rejects. */
export const neverAllowedByMessage = (limit: string): string =>
  `This call can never succeed: the limit \`${limit}\` is 0, which rejects everything`;

/** The message for a `wait` whose limiter is closed. */
export const LIMITER_CLOSED = 'Expected the limiter to stay open until the call is allowed, but `close` was called';

/** The message for a `wait` that finds its queue full. */
export const tooManyWaitingMessage = (maxWaiting: number): string =>
  `Expected at most ${maxWaiting} callers to wait in one queue (\`maxWaiting\`), and as many wait already. Raise \`maxWaiting\`, or try again later`;

/** The message for a `wait` whose `timeout` has passed. */
export const waitedTooLongMessage = (timeoutMs: number): string =>
  `Timed out: the call waited for ${timeoutMs} ms (\`timeout\`)`;

/** The message for a `wait` whose action would start after the `timeout`. */
export const startsTooLateMessage = (waitMs: number): string =>
  `Timed out: the earliest possible start is in ${Math.ceil(waitMs)} ms, after the \`timeout\``;

/** The message for an operation for which the store lacks this method. */
export const unsupportedMessage = (method: string): string =>
  `Expected the store to have the method \`${method}\`, got a store without it`;

/** The message for a `release` of a decision without leases. */
export const NO_SLOTS =
  'Expected `decision` to be of a check with a `concurrency` limit or a `lease`, got one without. Use `refund` instead';

/** The message for a `block` of a limiter that has no limit for it. */
export const NO_BLOCK =
  'Expected at least one limit of `block()` in `limits`, got none. Add one, such as `blocked: block()`';
