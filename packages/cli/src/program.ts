import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { compareCommand, simulateCommand, suggestCommand } from './commands.js';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The command line. It throws what went wrong, and ends no process. */
export function createProgram(): Command {
  const program = new Command('rollgate')
    .description('Which rate limit should I set, and whom would it hit? Replays access logs through Rollgate.')
    .version(manifest.version)
    .exitOverride()
    .addHelpText('after', EXAMPLES);
  for (const command of [simulateCommand(), suggestCommand(), compareCommand()])
    program.addCommand(command.exitOverride());
  return program;
}

const EXAMPLES = `
Examples:
  rollgate suggest access.log --window 1s --window 1m --refuse 0.1%
  rollgate simulate access.log --limit 100/1m
  rollgate compare access.log.1.gz access.log --limit 100/1m --html report.html

Ends with 0; with 1 when the log cannot be read or nothing in it parsed; with 2 when it was used wrongly; with 3 when what was
found cannot be written.`;
