#!/usr/bin/env node
import { CommanderError } from 'commander';
import { LogError, OutputError, UsageError } from './errors.js';
import { cannotPrint } from './output.js';
import { createProgram } from './program.js';
import { plain } from './report/words.js';

const LOG_FAILED = 1;
const USED_WRONGLY = 2;
const NOT_WRITTEN = 3;
const INTERRUPTED = 130;

// Whoever reads the output, such as `head`, may have had enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? process.exitCode : exitCodeOf(cannotPrint(error)));
});
// Where nobody listens, nothing is to be said, and what was found still is.
process.stderr.on('error', () => {});
process.once('SIGINT', () => process.exit(INTERRUPTED));

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Says what went wrong, unless that was said. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USED_WRONGLY;
  const code = codeOf(error);
  if (code === undefined) throw error;
  process.stderr.write(`rollgate: ${plain((error as Error).message, 600)}\n`);
  return code;
}

function codeOf(error: unknown): number | undefined {
  if (error instanceof LogError) return LOG_FAILED;
  if (error instanceof UsageError) return USED_WRONGLY;
  return error instanceof OutputError ? NOT_WRITTEN : undefined;
}
