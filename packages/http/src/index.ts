export type { Awaitable } from '@rollgate/core';
export type {
  GetHeader,
  HeaderWriter,
  Host,
  ProxyTrust,
  RequestReader,
  ResetUnit,
  SetHeader,
} from './base/host.js';
export { toError } from './base/to-error.js';
export { createClientKey } from './client/client-key.js';
export { createForwardedReader, type ForwardedAddressOptions } from './client/forwarded-address.js';
export { Gate, type Outcome } from './gate/gate.js';
export type { RequestEvent } from './gate/request-event.js';
export type { Headers } from './headers/header-options.js';
export type { Adapter, Next } from './node/decision-actions.js';
export type { Framework, NodeResponse } from './node/framework.js';
export { HttpLimiter } from './node/http-limiter.js';
export { onResponseFinished } from './node/response-lifecycle.js';
export { mergeOptions } from './options/merge-options.js';
export type { CommonOptions, ForRequest, HttpOptions, LimitOptions, WindowOptions } from './options/options.js';
export { rememberInMap, type SettleRequestOptions, settle } from './refunds/settle.js';
export { prefersText } from './rejection/prefers-text.js';
export { RateLimitError } from './rejection/rate-limit-error.js';
export {
  type HttpError,
  REJECTION_CODE,
  type Rejection,
  type RejectionBody,
  rejectionBody,
  statusOf,
} from './rejection/rejection.js';
export { WARNING_CODES, type WarningCode } from './warnings/warning-codes.js';
export type { EarlyHeaders, WebHeaders } from './web/web-headers.js';
export type { WebHost } from './web/web-host.js';
export { WebLimiter } from './web/web-limiter.js';
export type { AllowedResult, RateLimitResult, RejectedResult } from './web/web-result.js';
