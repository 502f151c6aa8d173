// ES modules get the same instance as `require`, because one process may contain both.
export type * from './outgoing-api.js';
export { OutgoingLimiter, ReportedQuota, reportedQuota } from './outgoing-api.js';
