// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  createClientKey,
  HttpLimiter,
  RateLimitError,
  REJECTION_CODE,
  rejectionBody,
  toError,
  WARNING_CODES,
} from './index.js';
