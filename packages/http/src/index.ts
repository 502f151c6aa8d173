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
export { optionError } from './base/option-error.js';
export { toError } from './base/to-error.js';
export { createClientKey } from './client/client-key.js';
export { createForwardedReader, type ForwardedAddressOptions } from './client/forwarded-address.js';
export { probeProxyTrust } from './client/probe-proxy-trust.js';
export { Gate } from './gate/gate.js';
export type { Outcome } from './gate/outcome.js';
export type { RequestEvent } from './gate/request-event.js';
export type { Headers } from './headers/header-options.js';
export type { Adapter, Framework, HeaderEditor, Next, NodeResponse } from './node/adapter.js';
export { HttpLimiter } from './node/http-limiter.js';
export { onResponseFinished } from './node/response-lifecycle.js';
export { endResponse, sendRejection } from './node/send-rejection.js';
export { mergeOptions } from './options/merge-options.js';
export type {
  CommonOptions,
  ForRejection,
  ForRequest,
  HttpOptions,
  LimitOptions,
  PartialOptions,
  WindowOptions,
} from './options/options.js';
export { rememberInMap, type SettleRequestOptions, settle } from './refunds/settle.js';
export { type HttpError, statusOf } from './rejection/http-error.js';
export type { MessageFormats } from './rejection/message-formats.js';
export { RateLimitError } from './rejection/rate-limit-error.js';
export { REJECTION_CODE, type Rejection, type RejectionBody, rejectionBody } from './rejection/rejection.js';
export { type RenderedRejection, renderRejection } from './rejection/render-rejection.js';
export { WARNING_CODES, type WarningCode } from './warnings/warning-codes.js';
export type { AllowedResult, RateLimitResult, RejectedResult } from './web/rate-limit-result.js';
export type { EarlyHeaders, WebHeaders } from './web/web-headers.js';
export type { WebHost } from './web/web-host.js';
export { WebLimiter } from './web/web-limiter.js';
