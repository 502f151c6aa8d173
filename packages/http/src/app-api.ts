// The entry point `@rollgate/http/app`: what every adapter passes on to apps, so that they install and import one package. An
// adapter's own export replaces one of the same name.
export * from '@rollgate/core';
export { createClientKey } from './client/client-key.js';
export type { ForwardedAddressOptions } from './client/forwarded-address.js';
export type { RequestEvent } from './gate/request-event.js';
export { cloudflareAddress, forwardedAddress, vercelAddress } from './node/addresses.js';
export { type SettleRequestOptions, settle } from './refunds/settle.js';
export type { MessageFormats } from './rejection/message-option.js';
export type { WarningCode } from './warnings/warnings.js';
