import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that has to be on the PATH, and the package that installs it. */
export interface Wanted {
  /** Debian's package. */
  readonly name: string;
  /** Possible names of the program, the best first. */
  readonly programs: readonly string[];
  /** An environment variable with the path of a program, which is then used instead of one on the PATH. */
  readonly variable?: string;
  /** How to install it by hand. */
  readonly how: string;
  /** The service that the package starts, and that nobody asked for. */
  readonly service?: string;
}

/**
 * Installs Debian's packages for those programs that are not on the PATH, after one line on stderr that announces it.
 *
 * @throws Error that names everything that is missing, if `ROLLGATE_NO_INSTALL=1` is set, apt-get is missing or fails; and
 *   if a variable does not contain the path of a program.
 */
export async function install(all: readonly Wanted[]): Promise<void> {
  const missing = all.filter((wanted) => find(wanted) === undefined);
  if (missing.length === 0) return;
  const packages = missing.map(({ name }) => name);
  const byHand = missing.map(({ how }) => how).join('\n');
  const absent = missing.map(({ name, how }) => `There is no ${name} on the PATH. ${how}`).join('\n');
  if (process.env.ROLLGATE_NO_INSTALL === '1') throw new Error(`ROLLGATE_NO_INSTALL=1 is set. ${absent}`);
  // Jest runs many workers, and its global setup has already installed what can be installed.
  const prefix = process.env.JEST_WORKER_ID === undefined ? await commandPrefix() : undefined;
  if (prefix === undefined) throw new Error(absent);
  process.stderr.write(
    `Installing packages that the tests need with apt-get: ${packages.join(', ')}. Set ROLLGATE_NO_INSTALL=1 to prevent this\n`,
  );
  try {
    await aptInstall(missing, prefix);
  } catch (cause) {
    throw new Error(`${packages.join(', ')} could not be installed with apt-get. ${byHand}`, { cause });
  }
}

/**
 * The path of a program, which is installed when it is missing.
 *
 * @throws Error that says what to install.
 */
export async function findOrInstall(wanted: Wanted): Promise<string> {
  await install([wanted]);
  const found = find(wanted);
  if (found === undefined) throw new Error(`The package ${wanted.name} brought none to the PATH. ${wanted.how}`);
  return found;
}

/** What commands have to start with to run as root; `undefined` when they cannot, or nothing can be installed. */
async function commandPrefix(): Promise<readonly string[] | undefined> {
  if (findOnPath(['apt-get']) === undefined) return undefined;
  if (process.getuid?.() === 0) return [];
  return run('sudo', ['-n', 'true']).then(
    () => ['sudo', '-n'],
    () => undefined,
  );
}

async function aptInstall(missing: readonly Wanted[], prefix: readonly string[]): Promise<void> {
  const asRoot = async (...command: string[]) => {
    const [file, ...args] = [...prefix, ...command];
    await run(file!, args, { maxBuffer: 64 * 1024 * 1024 });
  };
  // RUNLEVEL keeps a package from starting its service where the system heeds it. Elsewhere the service is stopped again,
  // unless it was there before.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
  const aptGet = (...args: string[]) => asRoot(...env, 'apt-get', '-o', 'DPkg::Lock::Timeout=300', ...args);
  const services = missing.flatMap(({ service }) => service ?? []).filter((name) => !existsSync(`/etc/init.d/${name}`));
  await aptGet('update');
  await aptGet('install', '-y', ...missing.map(({ name }) => name));
  for (const service of services) {
    await asRoot('service', service, 'stop').catch(() => {});
    await asRoot('update-rc.d', service, 'disable').catch(() => {});
  }
}

function find({ programs, variable }: Wanted): string | undefined {
  const chosen = variable === undefined ? undefined : process.env[variable];
  if (chosen === undefined || chosen === '') return findOnPath(programs);
  if (!isExecutable(chosen)) throw new Error(`Expected ${variable} to be the path of a program, got '${chosen}'`);
  return chosen;
}

function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
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
