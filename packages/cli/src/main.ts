#!/usr/bin/env node
import { CommanderError } from 'commander';
import { LogError, OutputError, StoreAccessError, UsageError } from './errors.js';
import { toOutputError } from './output.js';
import { createProgram } from './program.js';
import { toPlainText } from './report/escape-invisible.js';

const INPUT_ERROR = 1;
const USAGE_ERROR = 2;
const OUTPUT_ERROR = 3;
const INTERRUPTED = 130;

// The reader of the output, such as `head`, may close it early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? process.exitCode : exitCodeOf(toOutputError(error)));
});
// A closed standard error must not prevent the report.
process.stderr.on('error', () => {});
process.once('SIGINT', () => process.exit(INTERRUPTED));

try {
  await (await createProgram(process.argv.slice(2))).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Prints the error unless commander has printed it, and returns the exit code. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
  const code = codeOf(error);
  if (code === undefined) throw error;
  process.stderr.write(`rollgate: ${toPlainText(withoutType((error as Error).message), 600)}\n`);
  return code;
}

/** Whatever a user types is text, so its type adds nothing to the message of the engine. */
function withoutType(message: string): string {
  return message.replace(/(?<=["\d]) \((?:string|number)\)(?=$|[.;,:])/g, '');
}

function codeOf(error: unknown): number | undefined {
  if (error instanceof LogError || error instanceof StoreAccessError) return INPUT_ERROR;
  if (error instanceof UsageError) return USAGE_ERROR;
  return error instanceof OutputError ? OUTPUT_ERROR : undefined;
}
