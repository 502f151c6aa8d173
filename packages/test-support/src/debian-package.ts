import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that is to be on the PATH, and what brings it there. */
export interface Wanted {
  /** Debian's package. */
  readonly name: string;
  /** What the program may be called, the best first. */
  readonly programs: readonly string[];
  /** What somebody is to do where it is not there and cannot be installed. */
  readonly how: string;
  /** The service of the system that the package starts, and nobody asked for. */
  readonly service?: string;
}

/** The lists of what there is, brought up to date once for all packages. */
let updated: Promise<void> | undefined;

/**
 * The path of a program. Where there is none and it may, it installs Debian's package, and says so.
 *
 * @throws Error that says what to install.
 */
export async function findOrInstall(wanted: Wanted): Promise<string> {
  const { name, programs, how } = wanted;
  const found = find(programs);
  if (found !== undefined) return found;
  // Jest's workers are many, and its global setup has already done what can be done.
  const prefix = process.env.JEST_WORKER_ID === undefined ? await commandPrefix() : undefined;
  if (prefix === undefined) throw new Error(`There is no ${name} on the PATH. ${how}`);
  process.stderr.write(`There is no ${name} on the PATH: installing the package ${name} with apt-get\n`);
  try {
    await install(wanted, prefix);
  } catch (cause) {
    throw new Error(`${name} could not be installed with apt-get. ${how}`, { cause });
  }
  const installed = find(programs);
  if (installed === undefined) throw new Error(`The package ${name} brought none to the PATH. ${how}`);
  return installed;
}

/** What commands have to start with to run as root; `undefined` when they cannot, or nothing can be installed. */
async function commandPrefix(): Promise<readonly string[] | undefined> {
  if (find(['apt-get']) === undefined) return undefined;
  if (process.getuid?.() === 0) return [];
  return run('sudo', ['-n', 'true']).then(
    () => ['sudo', '-n'],
    () => undefined,
  );
}

async function install({ name, service }: Wanted, prefix: readonly string[]): Promise<void> {
  const asRoot = async (...command: string[]) => {
    const [file, ...args] = [...prefix, ...command];
    await run(file!, args, { maxBuffer: 64 * 1024 * 1024 });
  };
  // RUNLEVEL keeps a package's service from being started where that is heeded; elsewhere it is stopped again, but only
  // if this is what brought it.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
  const aptGet = (...args: string[]) => asRoot(...env, 'apt-get', '-o', 'DPkg::Lock::Timeout=300', ...args);
  const hadService = service === undefined || existsSync(`/etc/init.d/${service}`);
  updated ??= aptGet('update').catch((error) => {
    updated = undefined;
    throw error;
  });
  await updated;
  await aptGet('install', '-y', name);
  if (hadService) return;
  await asRoot('service', service, 'stop').catch(() => {});
  await asRoot('update-rc.d', service, 'disable').catch(() => {});
}

function find(names: readonly string[]): string | undefined {
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
