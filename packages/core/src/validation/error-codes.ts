/** The `code` of every Rollgate error. Only the error of a rejected request has another one, `RATE_LIMIT_EXCEEDED`. */
export type ErrorCode =
  | 'ERR_ROLLGATE_FOREIGN_DECISION'
  | 'ERR_ROLLGATE_FUNCTION_TIMEOUT'
  | 'ERR_ROLLGATE_INVALID_CLOCK'
  | 'ERR_ROLLGATE_INVALID_KEY'
  | 'ERR_ROLLGATE_INVALID_OPTION'
  | 'ERR_ROLLGATE_LATE_PLUGIN'
  | 'ERR_ROLLGATE_LIMITER_CLOSED'
  | 'ERR_ROLLGATE_MISSING_LIMITS'
  | 'ERR_ROLLGATE_NEVER_ALLOWED'
  | 'ERR_ROLLGATE_NO_CLIENT_ADDRESS'
  | 'ERR_ROLLGATE_NOT_AN_ERROR'
  | 'ERR_ROLLGATE_STORE_FAILED'
  | 'ERR_ROLLGATE_TOO_MANY_WAITING'
  | 'ERR_ROLLGATE_UNKNOWN_OPTION'
  | 'ERR_ROLLGATE_UNSUPPORTED_ALGORITHM'
  | 'ERR_ROLLGATE_UNSUPPORTED_OPERATION'
  | 'ERR_ROLLGATE_WAIT_TIMEOUT';

/** An error with a code. */
export interface Coded {
  /** The stable code of the error, which the error page explains. */
  readonly code: ErrorCode;
}

/** Sets the error's `code` and returns the error. */
export function withCode<Thrown extends Error>(code: ErrorCode, error: Thrown): Thrown & Coded {
  // An assignment would fail for a DOMException, because its `code` is a getter.
  return Object.defineProperty(error, 'code', {
    value: code,
    enumerable: true,
    configurable: true,
    writable: true,
  }) as Thrown & Coded;
}

/** Whether an error of a store's call is the caller's mistake, such as a wrong clock. Then no policy decides instead. */
export function isMisuse(thrown: unknown): boolean {
  const code: unknown = (thrown as Partial<Coded> | null | undefined)?.code;
  return typeof code === 'string' && code.startsWith('ERR_ROLLGATE_') && code !== 'ERR_ROLLGATE_STORE_FAILED';
}
