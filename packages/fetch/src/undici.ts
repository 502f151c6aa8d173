// The entry point `@rollgate/fetch/undici`.
export { createInterceptor, type InterceptorOptions, type RateLimitInterceptor } from './undici/create-interceptor.js';
