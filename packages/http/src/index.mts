// ES modules get the same instance as `require`: both kinds may meet in one process.
export type * from './index.js';
export {
  createClientKey,
  Gate,
  RateLimitError,
  REJECTION_CODE,
  rejectionBody,
  toError,
  WARNING_CODES,
} from './index.js';
