import { Command } from 'commander';
import { compareCommand, simulateCommand, suggestCommand } from './commands.js';
import { migrateCommand } from './migrate-command.js';
import { VERSION } from './version.js';
import { watchCommand } from './watch/watch-command.js';

/** Creates the command line. It throws errors and never ends the process. */
export function createProgram(): Command {
  const program = new Command('rollgate')
    .description('Replays access logs through Rollgate to show which rate limit to set and whom it would affect.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError })
    .addHelpText('after', EXAMPLES);
  const commands = [simulateCommand(), suggestCommand(), compareCommand(), watchCommand(), migrateCommand()];
  for (const command of commands) program.addCommand(command.exitOverride().configureOutput({ outputError }));
  return program;
}

/** Gives the errors of commander the form of all others, on one line. */
function outputError(text: string, write: (text: string) => void): void {
  const [, first = '', rest = ''] = /^(?:error: )?(.)([\s\S]*)$/.exec(text.trim()) ?? [];
  write(`rollgate: ${first.toUpperCase()}${rest.replace(/\n/g, ' ')}\n`);
}

const EXAMPLES = `
Examples:
  rollgate suggest access.log --window 1s --window 1m --reject 0.1%
  rollgate simulate access.log --limit 100/1m
  rollgate watch access.log --limit 100/1m
  rollgate compare access.log.1.gz access.log --limit 100/1m --html report.html

Exit codes: 0 success, 1 unreadable log or no request in it, 2 usage error, 3 the output cannot be written, 130 interrupted.`;
