import { emitWarning } from '@rollgate/core/store';

const warned = new Set<string>();

/** Emits a warning for the first error of a function that the user has passed. The call goes on without its result. */
export function warnOnce(code: string, message: string, error: unknown): void {
  if (warned.has(code)) return;
  warned.add(code);
  emitWarning(`${message}: ${textOf(error)}`, { type: 'RollgateWarning', code });
}

/** An error may be any value, also one without a text. */
function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return typeof error;
  }
}
