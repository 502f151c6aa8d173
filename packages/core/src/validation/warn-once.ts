import { emitWarning } from '../base/platform.js';

const emitted = new Set<string>();

/** Emits a process warning, unless this process has emitted one with the same code. */
export function warnOnce(code: string, message: string): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  emitWarning(message, { type: 'RollgateWarning', code });
}
