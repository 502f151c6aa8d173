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

/** An error in the style of `http-errors`. */
export type HttpError = Error & {
  /** The status of the response. */
  readonly status?: unknown;
  /** The status again, because some frameworks read only one of the two names. */
  readonly statusCode?: unknown;
  /** Whether the client may read the message. */
  readonly expose?: unknown;
};

/** Returns the status of an error, if it is one of an error. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, statusCode = status } = error as HttpError;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 ? Math.trunc(statusCode) : undefined;
}

/** Whether the status of an app's error asks the client to retry later, so that the error is a rejection itself. */
export function isRejectionError(error: unknown, statusCode: number): boolean {
  const status = statusOf(error);
  return status !== undefined && [statusCode, 429, 503].includes(status);
}
