// The entry point `@rollgate/fetch/outgoing`: limits for calls to an API that limits its clients, without `fetch`.
export { OutgoingLimiter, type ReportOptions } from './outgoing/outgoing-limiter.js';
export type { ReportedNumbers } from './outgoing/report-numbers.js';
export type { Reported } from './outgoing/reported.js';
export { ReportedQuota, type ReportedQuotaOptions, reportedQuota } from './outgoing/reported-quota.js';
