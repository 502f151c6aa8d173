export type { Awaitable } from '@rollgate/core';
export { createClientKey } from './client-key.js';
export type { Adapter, Next } from './decision-actions.js';
export { createForwardedReader, type ForwardedAddressOptions } from './forwarded-address.js';
export type {
  Framework,
  GetHeader,
  HeaderWriter,
  Host,
  ProxyTrust,
  RequestReader,
  SetHeader,
} from './framework.js';
export { Gate, type Outcome } from './gate.js';
export type { Headers, ResetUnit } from './header-options.js';
export { HttpLimiter } from './http-limiter.js';
export { mergeOptions } from './merge-options.js';
export type { CommonOptions, ForRequest, HttpOptions, LimitOptions, WindowOptions } from './options.js';
export { prefersText } from './prefers-text.js';
export { RateLimitError } from './rate-limit-error.js';
export {
  type HttpError,
  REJECTION_CODE,
  type Rejection,
  type RejectionBody,
  rejectionBody,
  statusOf,
} from './rejection.js';
export type { RequestEvent } from './request-event.js';
export { type NodeResponse, onResponseFinished } from './response-lifecycle.js';
export { rememberInMap, type SettleRequestOptions, settle } from './settle.js';
export { toError } from './to-error.js';
export { WARNING_CODES, type WarningCode } from './warning-codes.js';
export type { EarlyHeaders, WebHeaders } from './web-headers.js';
export type { WebHost } from './web-host.js';
export { WebLimiter } from './web-limiter.js';
export type { AllowedResult, RateLimitResult, RejectedResult } from './web-result.js';
