import type { StoreConnection } from '../store.js';
import { formatValue } from '../validate.js';

/**
 * What a limiter rejects with when its store has failed and the policy is `'throw'`. The store's own error is its
 * `cause`. When the store has not answered in time, the cause is the last error of its connection, if there is one.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code = 'ERR_ROLLGATE_STORE_FAILED';
}

/** The error of a call that the store did not answer within `timeoutMs`. */
export function storeTimeoutError(timeoutMs: number, connection: StoreConnection | undefined): StoreError {
  return unansweredError(`The store did not answer within ${timeoutMs} ms (\`timeout\`)`, connection);
}

/** The error of a call that was not sent, for the store is known to be down. */
export function storeDownError(timeoutMs: number, connection: StoreConnection | undefined): StoreError {
  const message = `The store is down: it has not answered since a call took longer than ${timeoutMs} ms (\`timeout\`)`;
  return unansweredError(message, connection);
}

/** The error of a call that the store rejected. */
export function storeFailedError(cause: unknown, connection: StoreConnection | undefined): StoreError {
  if (cause instanceof StoreError) return cause;
  const last = connection?.lastError;
  const message = cause instanceof Error ? withoutPeriod(cause.message) : formatValue(cause);
  const after = last === undefined || last === cause ? '' : describe(connection);
  return new StoreError(`The store failed: ${message}${after}`, { cause });
}

function unansweredError(message: string, connection: StoreConnection | undefined): StoreError {
  const cause = connection?.lastError;
  return new StoreError(message + describe(connection), cause === undefined ? undefined : { cause });
}

function describe(connection: StoreConnection | undefined): string {
  if (connection === undefined) return '';
  const { state, lastError } = connection;
  return `. Its client is ${state}${lastError === undefined ? '' : `, last error: ${withoutPeriod(lastError.message)}`}`;
}

function withoutPeriod(message: string): string {
  return message.replace(/\.+$/, '');
}
