// The counterpart of `error-texts.ts` in the build for bundles, which must be small. The codes of the errors are the same.
import { formatValue } from './validate.js';

export const MISSING_LIMITS = 'Expected `limits`, got none';

export const LIMITS = 'a limit or a record of limits';

export const LIMIT = 'a limit';

export const ONE_KEY = 'a nonempty string';

export const KEYS = 'a string or a record of strings';

export const SOME_KEYS = KEYS;

export const NAMED_LIMITS = 'a record';

export const BARE_LIMIT = 'Expected options with `limits`';

export const BARE_LIMITS = BARE_LIMIT;

export const DURATION = "a duration such as '1m'";

export const CLEAR_UNIT = "a unit such as '1m' or '30d'";

export const describeLimitName = (name: string): string => `Expected a name in \`limits\`, got ${formatValue(name)}`;

export const SHORT_TIMEOUT = 'at most 24 days';

export const STORE = 'a store';

export const REFUND_FAILED = 'A refund failed: ';

export const FALLBACK_GUARD = 'a store with `withFallback`';

export const VALID_TIME = 'Expected `clock.now()` to return milliseconds';

export const NEVER_ALLOWED = 'The limits never allow it';

export const LIMITER_CLOSED = 'The limiter is closed';

export const tooManyWaitingMessage = (): string => 'More than `maxWaiting` wait';

export const waitedTooLongMessage = (): string => 'Timed out (`timeout`)';

export const startsTooLateMessage = waitedTooLongMessage;

export const unsupportedMessage = (method: string): string => `Expected a store with \`${method}\``;

export const NO_SLOTS = 'Expected leases, got none';

export const NO_BLOCK = 'Expected a `block()` limit, got none';
