#!/usr/bin/env node
import { CommanderError } from 'commander';
import { LogError, UsageError } from './errors.js';
import { createProgram } from './program.js';
import { plain } from './report/words.js';

const LOG_FAILED = 1;
const USED_WRONGLY = 2;
const INTERRUPTED = 130;

// Whoever reads the output, such as `head`, may have had enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.once('SIGINT', () => process.exit(INTERRUPTED));

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Says what went wrong, unless that was said. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USED_WRONGLY;
  if (!(error instanceof LogError || error instanceof UsageError)) throw error;
  process.stderr.write(`rollgate: ${plain(error.message, 600)}\n`);
  return error instanceof LogError ? LOG_FAILED : USED_WRONGLY;
}
