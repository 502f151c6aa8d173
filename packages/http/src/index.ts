export type { Awaitable } from '@rollgate/core';
export { createClientKey } from './client-key.js';
export { toError } from './errors.js';
export type { Framework } from './framework.js';
export { Gate } from './gate.js';
export type { SetField } from './header-fields.js';
export type { NodeResponse } from './hold.js';
export type { CommonOptions, HttpOptions, LimitOptions, ResetUnit } from './options.js';
export { RateLimitError, REFUSAL_CODE, type RefusalBody, refusalBody } from './refusal.js';
