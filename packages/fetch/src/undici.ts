// The entry point `@rollgate/fetch/undici`.
export { createInterceptor, type RateLimitInterceptor } from './undici/create-interceptor.js';
