import { show } from '../validate.js';

/**
 * What a limiter rejects with when its store has failed and the policy is `'throw'`. The store's own error is its
 * `cause`; there is none when the store has not answered in time.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code = 'ROLLGATE_STORE_FAILED';
}

/** The error of a call that the store did not answer within `timeoutMs`. */
export function lateError(timeoutMs: number): StoreError {
  return new StoreError(`The store did not answer within ${timeoutMs} ms (\`timeout\`)`);
}

/** The error of a call that was not sent, for the store is known to be down. */
export function downError(timeoutMs: number): StoreError {
  return new StoreError(
    `The store is down: it has not answered since a call took longer than ${timeoutMs} ms (\`timeout\`)`,
  );
}

/** The error of a call that the store rejected. */
export function failedError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const message = cause instanceof Error ? cause.message.replace(/\.+$/, '') : show(cause);
  return new StoreError(`The store failed: ${message}`, { cause });
}
