import { emitWarning } from '../util/platform.js';

const emitted = new Set<string>();

/** Emits a process warning, unless this process has emitted one with the same code. `detail` is printed below it. */
export function warnOnce(code: string, message: string, detail?: string): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  emitWarning(message, { type: 'RollgateWarning', code, ...(detail && { detail }) });
}
