import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { UsageError } from './errors.js';

const TRANSFORM = fileURLToPath(new URL('migrate/transform.cjs', import.meta.url));

/** `rollgate migrate`. Most users of the command line never migrate, so npx fetches jscodeshift only when it is needed. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .argument('<path...>', 'files or folders with JavaScript and TypeScript')
    .option('--dry', 'print the changes as a diff instead of making them')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: readonly string[], { dry }: { dry?: boolean }) => {
      const output = dry ? ['--dry', '--diff=true'] : [];
      const options = ['--no-babel', '--extensions=js,cjs,mjs,jsx,ts,cts,mts,tsx', '--ignore-pattern=node_modules'];
      process.exitCode = await runNpx(['--yes', 'jscodeshift@17', '-t', TRANSFORM, ...options, ...output, ...paths]);
    });
}

async function runNpx(args: readonly string[]): Promise<number> {
  // On Windows npx is a script, which only a shell runs.
  const shell = process.platform === 'win32';
  const child = spawn('npx', shell ? args.map((argument) => `"${argument}"`) : args, { shell, stdio: 'inherit' });
  const [code] = await once(child, 'close').catch(({ message }: Error) => {
    throw new UsageError(`Expected \`npx\` on the PATH, to run jscodeshift (${message})`);
  });
  return code === 0 ? 0 : 1;
}

const EXAMPLES = `
Examples:
  rollgate migrate --dry src
  rollgate migrate src test/app.test.ts`;
