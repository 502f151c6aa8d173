// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  anthropic,
  createFetch,
  discord,
  draftHeaders,
  github,
  google,
  openai,
  shopify,
  slack,
  stripe,
  xRateLimit,
} from './index.js';
