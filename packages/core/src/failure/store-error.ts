import type { StoreConnection } from '../store/store.js';
import { messageOf } from '../validation/validate.js';

/**
 * The error of a call whose store has failed, with `onStoreError: 'throw'`. Its `cause` is the store's own error. If
 * the call timed out, the cause is the last error of the store's connection, if there is one.
 */
export class StoreError extends Error {
  /** Always `StoreError`. */
  override readonly name = 'StoreError';
  /** The stable code of this error. */
  readonly code = 'ERR_ROLLGATE_STORE_FAILED';
}

/** Creates the error of a call that exceeded `timeoutMs`. */
export function storeTimeoutError(timeoutMs: number, connection: StoreConnection | undefined): StoreError {
  return noResponseError(`The store did not respond within ${timeoutMs} ms (\`timeout\`)`, connection);
}

/** Creates the error of a call that was not sent because the store is known to be down. */
export function storeDownError(timeoutMs: number, connection: StoreConnection | undefined): StoreError {
  const message = `The store is down: a call timed out after ${timeoutMs} ms (\`timeout\`), and there has been no response since`;
  return noResponseError(message, connection);
}

/** Creates the error of a call that the store rejected. */
export function storeFailedError(cause: unknown, connection: StoreConnection | undefined): StoreError {
  if (cause instanceof StoreError) return cause;
  const last = connection?.lastError;
  const message = withoutPeriod(messageOf(cause));
  const after = last === undefined || last === cause ? '' : describe(connection);
  return new StoreError(`The store failed: ${message}${after}`, { cause });
}

function noResponseError(message: string, connection: StoreConnection | undefined): StoreError {
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
