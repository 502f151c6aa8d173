import { emitWarning } from 'node:process';

/** What can be warned of, each once in a process. The documentation has a paragraph on each. */
export const WARNING_CODES = [
  'ROLLGATE_UNTRUSTED_PROXY',
  'ROLLGATE_TRUSTS_EVERY_PROXY',
  'ROLLGATE_SHARED_KEYS',
  'ROLLGATE_LIMITER_PER_REQUEST',
  'ROLLGATE_COUNTED_TWICE',
  'ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED',
  'ROLLGATE_DRY_RUN_FAILED',
  'ROLLGATE_IPV6_KEY',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

const warned = new Set<WarningCode>();

/** Warns the process, once for each code. */
export function warnOnce(code: WarningCode, message: string): void {
  if (warned.has(code)) return;
  warned.add(code);
  emitWarning(message, { type: 'RollgateWarning', code, detail: `Silence it with \`silence: ['${code}']\`` });
}
