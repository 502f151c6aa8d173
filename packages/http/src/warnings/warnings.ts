import { emitWarning } from '@rollgate/core/store';
import type { WarningCode } from './warning-codes.js';
import { describeWarning } from './warning-texts.js';

/** The page that explains each code. */
const PAGE = 'https://rollgate-js.github.io/rollgate/warnings';

const warned = new Set<WarningCode>();

/** Emits a process warning, once for each code. `detail` is what differs from case to case. */
export function warnOnce(code: WarningCode, detail?: string): void {
  if (warned.has(code)) return;
  warned.add(code);
  emitWarning(describeWarning(code, detail), {
    type: 'RollgateWarning',
    code,
    detail: `Silence it with \`silence: ['${code}']\`. ${PAGE}#${code.toLowerCase()}`,
  });
}
