import { warnOnce } from '@rollgate/core/store';

/** Emits a warning for the first error of a function that the user has passed. The call goes on without its result. */
export function warnOfError(code: string, message: string, error: unknown): void {
  warnOnce(code, `${message}: ${textOf(error)}`);
}

/** An error may be any value, also one without a text. */
function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return typeof error;
  }
}
