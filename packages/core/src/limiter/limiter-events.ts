import type { DecisionEventOf } from '../events/publish-decision.js';
import type { LeaseLoss } from '../slots/report-lease-loss.js';
import type { RateLimiter } from './rate-limiter.js';

/** Published on the channel `rollgate:decision` for each check, and on `rollgate:rejection` for each rejected one. */
export type DecisionEvent = DecisionEventOf<RateLimiter>;

/**
 * Published on the channel `rollgate:lease:lost` when slots of a `concurrency` limit, or reserved units of a `calendarWindow`, may
 * belong to another process.
 */
export type LeaseLossEvent = LeaseLoss<RateLimiter>;
