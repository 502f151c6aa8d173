import type { Awaitable, Decision } from '@rollgate/core';
import { validateIntegerBetween } from '@rollgate/core/store';

/** The option `statusCode`. */
export type StatusOption = number | ((request: unknown, decision: Decision) => Awaitable<number>);

/** @throws TypeError, RangeError when it is neither a function nor the status of an error. */
export function resolveStatusOption(statusCode: unknown): StatusOption {
  return typeof statusCode === 'function' ? (statusCode as StatusOption) : validateStatus('statusCode', statusCode);
}

/** @throws TypeError, RangeError when `status` is not the status of an error. */
export function validateStatus(name: string, status: unknown): number {
  return validateIntegerBetween(name, status, 400, 599);
}
