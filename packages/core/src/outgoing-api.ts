// The entry point `@rollgate/core/outgoing`: limits for calls to an API that limits its clients.
export { OutgoingLimiter, type TellOptions } from './outgoing/outgoing-limiter.js';
export type { Told } from './outgoing/told.js';
export type { ToldNumbers } from './slots/tell-numbers.js';
export { ToldQuota, type ToldQuotaOptions, toldQuota } from './slots/told-quota.js';
