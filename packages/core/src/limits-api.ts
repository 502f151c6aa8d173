// The entry point `@rollgate/core/limits`: what limits of other packages need.
export { NO_DECISION, RecordedHit, recordedHitsOf } from './decision/receipt.js';
export { divideReceipt, FallbackReceipt } from './failure/guarded-store.js';
export { HeldLeases, LeaseKeeper } from './leases/lease-keeper.js';
export { StateTail } from './leases/lease-list.js';
export type { SomeKeysOn } from './limiter/rate-limiter-options.js';
export { resolveSettledCosts, settleDecision } from './limiter/settlement.js';
export { isWithinScale, type Scale, scaleOf } from './limits/clock-skew-bound.js';
export type { Usage } from './limits/limit.js';
export { OVERDRAW, records } from './limits/limit.js';
export { mulDiv, mulDivUp } from './limits/mul-div.js';
export { type EnforceOption, parseEnforce } from './limits/window-limit.js';
export { type Settlement, settleReservation } from './operations/state-store.js';
export { unitsFromZero, unknownLimitMessage } from './plan/plan.js';
export { wakeWaiters } from './store/quota-waiters.js';
export { withMembers } from './util/with-members.js';
export { MAX_DURATION_MS, parseInterval } from './validation/duration.js';
export { unsupported } from './validation/errors.js';
