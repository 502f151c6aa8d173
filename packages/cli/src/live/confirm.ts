import { createInterface } from 'node:readline/promises';
import { UsageError } from '../errors.js';

/**
 * Asks on a terminal whether to go on.
 *
 * @throws UsageError without a terminal, because nobody could answer.
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${question}? Nobody can answer without a terminal. Pass \`--yes\``);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question}? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
