import { emitWarning } from '../util/platform.js';

const emitted = new Set<string>();

/** Emits a process warning, unless this process has emitted one with the same code. `detail` is printed below it. */
export function warnOnce(code: string, message: string, detail?: string): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  emitWarning(message, { type: 'RollgateWarning', code, ...(detail && { detail }) });
}

/** The warning of a full store. */
export const describeFullStore = (maxKeys: number): string =>
  `A MemoryStore is full: it holds ${maxKeys} keys (\`maxKeys\`). Each new key now evicts the one nearest to its expiry, of the same limit or of a limit with more than its share of the keys. An evicted key starts with its full quota`;
