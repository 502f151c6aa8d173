import { rateLimit } from './plugin.js';

export type { RateLimitOptions, RateLimitPluginOptions, RateLimitRouteOptions } from './options.js';
export { rateLimit };
export default rateLimit;
