import { fstat, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { UsageError } from './errors.js';
import { nameOfLog, STANDARD_INPUT } from './log/log-name.js';

/**
 * Checks the paths before a log is read or anything is written.
 *
 * @param html The file that the page will be written to.
 * @throws UsageError when a log would be read twice or overwritten.
 */
export async function checkPaths(paths: readonly string[], html: string | undefined): Promise<void> {
  const names = new Map<string, string>();
  for (const path of paths) {
    const identity = await identityOf(path);
    const other = names.get(identity);
    if (other !== undefined) {
      const isSame = other === path ? '' : `, which is also ${JSON.stringify(nameOfLog(other))}`;
      throw new UsageError(`Expected each log once, got ${JSON.stringify(nameOfLog(path))} twice${isSame}`);
    }
    names.set(identity, path);
  }
  if (html === undefined) return;
  if (html === STANDARD_INPUT || html === '') {
    throw new UsageError(`Expected \`--html\` to be a file, got ${JSON.stringify(html)} (string)`);
  }
  const log = names.get(await identityOf(html));
  if (log !== undefined) {
    throw new UsageError(`\`--html\` ${JSON.stringify(html)} would overwrite a log that is read: ${nameOfLog(log)}`);
  }
}

/** @throws UsageError when a log would be read from a terminal. */
export function checkNotTerminal(paths: readonly string[]): void {
  if (!paths.includes(STANDARD_INPUT) || !process.stdin.isTTY) return;
  throw new UsageError('Expected a log, got a terminal. Name a file or pipe one in');
}

/** Returns the same text for two names of one file. */
async function identityOf(path: string): Promise<string> {
  const isStandardInput = path === STANDARD_INPUT;
  const found: Stats | undefined = await (isStandardInput ? promisify(fstat)(0) : stat(path)).catch(() => undefined);
  return found === undefined ? `named ${path}` : `${found.dev}:${found.ino}`;
}
