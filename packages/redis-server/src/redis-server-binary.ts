import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const NAMES = ['redis-server', 'valkey-server'];
const HOW =
  'Install it (Debian: `apt-get install redis-server`, macOS: `brew install redis`), or set REDIS_URL for the tests ' +
  'that only need some server';

let asked: Promise<string> | undefined;

/**
 * The path of a Redis or Valkey server. Where there is none and it may, it installs Debian's package, and says so.
 *
 * @throws Error that says what to install.
 */
export function redisServerBinary(): Promise<string> {
  asked ??= findOrInstall().catch((error) => {
    asked = undefined;
    throw error;
  });
  return asked;
}

async function findOrInstall(): Promise<string> {
  const found = find(NAMES);
  if (found !== undefined) return found;
  // Jest's workers are many, and its global setup has already done what can be done.
  const prefix = process.env.JEST_WORKER_ID === undefined ? await commandPrefix() : undefined;
  if (prefix === undefined) throw new Error(`There is no redis-server on the PATH. ${HOW}`);
  process.stderr.write('There is no redis-server on the PATH: installing the package redis-server with apt-get\n');
  try {
    await install(prefix);
  } catch (cause) {
    throw new Error(`redis-server could not be installed with apt-get. ${HOW}`, { cause });
  }
  const installed = find(NAMES);
  if (installed === undefined) throw new Error(`The package redis-server brought none to the PATH. ${HOW}`);
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

async function install(prefix: readonly string[]): Promise<void> {
  const asRoot = async (...command: string[]) => {
    const [file, ...args] = [...prefix, ...command];
    await run(file!, args, { maxBuffer: 64 * 1024 * 1024 });
  };
  // The package comes with a service of the system on port 6379, which nobody asked for. RUNLEVEL keeps it from being
  // started where that is heeded; elsewhere it is stopped again, but only if this is what brought it.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
  const hadService = existsSync('/etc/init.d/redis-server');
  await asRoot(...env, 'apt-get', '-o', 'DPkg::Lock::Timeout=300', 'update');
  await asRoot(...env, 'apt-get', '-o', 'DPkg::Lock::Timeout=300', 'install', '-y', 'redis-server');
  if (hadService) return;
  await asRoot('service', 'redis-server', 'stop').catch(() => {});
  await asRoot('update-rc.d', 'redis-server', 'disable').catch(() => {});
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
