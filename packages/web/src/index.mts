// ES modules get the same instance as `require`, because one process may contain both.
export * from '@rollgate/core';
export type * from './index.js';
export {
  bunAddress,
  cloudflareAddress,
  createClientKey,
  denoAddress,
  forwardedAddress,
  rateLimit,
  settle,
  vercelAddress,
} from './index.js';
