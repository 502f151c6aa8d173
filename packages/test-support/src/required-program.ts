import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that the tests require on the PATH, and the package that installs it. */
export interface RequiredProgram {
  /** The name of Debian's package. */
  readonly name: string;
  /** Possible names of the program, the best first. */
  readonly programs: readonly string[];
  /** Returns folders to search after the PATH. */
  readonly folders?: () => readonly string[];
  /** An environment variable with the path of the program, which has precedence over the PATH. */
  readonly variable?: string;
  /** How to install it by hand. */
  readonly how: string;
}

/**
 * Installs Debian's packages for the programs that are not on the PATH, and announces it in one line on stderr.
 *
 * @throws Error if `ROLLGATE_NO_INSTALL=1` is set, if apt-get is missing or fails, or if a variable does not contain the path of
 *   a program. The message names all missing programs.
 */
export async function install(all: readonly RequiredProgram[]): Promise<void> {
  const missing = all.filter((required) => find(required) === undefined);
  if (missing.length === 0) return;
  const packages = missing.map(({ name }) => name);
  const byHand = missing.map(({ how }) => how).join('\n');
  const absent = missing.map(({ name, how }) => `Expected ${name} on the PATH, got none. ${how}`).join('\n');
  if (process.env.ROLLGATE_NO_INSTALL === '1') throw new Error(`ROLLGATE_NO_INSTALL=1 is set. ${absent}`);
  // In a Jest worker, the global setup has already tried to install it.
  const prefix = process.env.JEST_WORKER_ID === undefined ? await commandPrefix() : undefined;
  if (prefix === undefined) throw new Error(absent);
  process.stderr.write(
    `Installing packages that the tests need with apt-get: ${packages.join(', ')}. Set ROLLGATE_NO_INSTALL=1 to prevent this\n`,
  );
  try {
    await aptInstall(missing, prefix);
  } catch (cause) {
    throw new Error(`Cannot install ${packages.join(', ')} with apt-get. ${byHand}`, { cause });
  }
}

/**
 * Returns the path of a program. Installs the program if it is missing.
 *
 * @throws Error if it cannot install the program. The message contains what to install.
 */
export async function findOrInstall(required: RequiredProgram): Promise<string> {
  await install([required]);
  const found = find(required);
  if (found === undefined)
    throw new Error(
      `Expected the package ${required.name} to install ${required.programs[0]} on the PATH, got none. ${required.how}`,
    );
  return found;
}

/** The prefix of commands that run as root; `undefined` if there is no way to run them, or no apt-get. */
async function commandPrefix(): Promise<readonly string[] | undefined> {
  if (findIn(pathFolders(), ['apt-get']) === undefined) return undefined;
  if (process.getuid?.() === 0) return [];
  return run('sudo', ['-n', 'true']).then(
    () => ['sudo', '-n'],
    () => undefined,
  );
}

async function aptInstall(missing: readonly RequiredProgram[], prefix: readonly string[]): Promise<void> {
  const asRoot = async (...command: string[]) => {
    const [file, ...args] = [...prefix, ...command];
    await run(file!, args, { maxBuffer: 64 * 1024 * 1024 });
  };
  // RUNLEVEL keeps a package from starting its service, except where systemd starts it. The tests leave that one alone.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
  const aptGet = (...args: string[]) => asRoot(...env, 'apt-get', '-o', 'DPkg::Lock::Timeout=300', ...args);
  await aptGet('update');
  await aptGet('install', '-y', ...missing.map(({ name }) => name));
}

function find({ programs, folders, variable }: RequiredProgram): string | undefined {
  const chosen = variable === undefined ? undefined : process.env[variable];
  if (chosen === undefined || chosen === '')
    return findIn(pathFolders(), programs) ?? findIn(folders?.() ?? [], programs);
  if (!isExecutable(chosen)) throw new Error(`Expected ${variable} to be the path of a program, got '${chosen}'`);
  return chosen;
}

function pathFolders(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}

function findIn(folders: readonly string[], names: readonly string[]): string | undefined {
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
