// The entry point `@rollgate/core/outgoing`: limits for calls to an API that limits its clients.
export { OutgoingLimiter, type ReportOptions } from './outgoing/outgoing-limiter.js';
export type { Reported } from './outgoing/reported.js';
export type { ReportedNumbers } from './slots/report-numbers.js';
export { ReportedQuota, type ReportedQuotaOptions, reportedQuota } from './slots/reported-quota.js';
