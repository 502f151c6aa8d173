// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  createClientKey,
  createForwardedReader,
  endResponse,
  Gate,
  HttpLimiter,
  mergeOptions,
  onResponseFinished,
  optionError,
  probeProxyTrust,
  RateLimitError,
  REJECTION_CODE,
  rejectionBody,
  rememberInMap,
  renderRejection,
  sendRejection,
  settle,
  statusOf,
  toError,
  WARNING_CODES,
  WebLimiter,
} from './index.js';
