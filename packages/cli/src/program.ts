import { Command } from 'commander';
import { VERSION } from './version.js';

/** What the help of a command says, and how to load the rest of it. Help and each command load no other command. */
const COMMANDS: Readonly<Record<string, readonly [description: string, load: () => Promise<Command>]>> = {
  simulate: [
    'Replays a log and reports who would be rejected',
    async () => (await import('./commands.js')).simulateCommand(),
  ],
  suggest: [
    'Finds the smallest limit that rejects at most a given share',
    async () => (await import('./commands.js')).suggestCommand(),
  ],
  compare: ['Compares all algorithms under one limit', async () => (await import('./commands.js')).compareCommand()],
  watch: [
    'Follows a growing log and updates who would be rejected',
    async () => (await import('./watch/watch-command.js')).watchCommand(),
  ],
  top: [
    'Lists the keys of a running system that have used the most of their limits',
    async () => (await import('./live/top-command.js')).topCommand(),
  ],
  inspect: [
    'Shows what a key has used of its limits in a running system',
    async () => (await import('./live/inspect-command.js')).inspectCommand(),
  ],
  reset: [
    'Gives a key of a running system its full quota again',
    async () => (await import('./live/change-commands.js')).resetCommand(),
  ],
  credit: [
    'Gives used units back to a key of a running system',
    async () => (await import('./live/change-commands.js')).creditCommand(),
  ],
  block: ['Blocks a key in a running system', async () => (await import('./live/change-commands.js')).blockCommand()],
  migrate: [
    'Translates code that uses express-rate-limit or @fastify/rate-limit',
    async () => (await import('./migrate-command.js')).migrateCommand(),
  ],
};

/** Creates the command line for these arguments. It throws errors and never ends the process. */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('rollgate')
    .description(
      'Replays access logs to show which rate limit to set and whom it would affect, and shows and changes the limits of a running system.',
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError })
    .addHelpText('after', EXAMPLES);
  const [first, second] = args;
  const named = first === 'help' ? second : first;
  for (const [name, [description, load]] of Object.entries(COMMANDS)) {
    const command = name === named ? await load() : new Command(name).usage('[options] …');
    program.addCommand(command.description(description).exitOverride().configureOutput({ outputError }));
  }
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
  rollgate top redis://localhost --watch
  rollgate inspect redis://localhost customer:7

Exit codes: 0 success, 1 unreadable log or no request in it, or a store that fails, 2 usage error, 3 the output cannot be written, 130 interrupted.`;
