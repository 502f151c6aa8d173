// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  createClientKey,
  createForwardedReader,
  Gate,
  HttpLimiter,
  mergeOptions,
  onResponseFinished,
  prefersText,
  RateLimitError,
  REJECTION_CODE,
  rejectionBody,
  rememberInMap,
  settle,
  statusOf,
  toError,
  WARNING_CODES,
  WebLimiter,
} from './index.js';
