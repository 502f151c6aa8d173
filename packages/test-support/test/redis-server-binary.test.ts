import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisServerBinary } from '@rollgate/test-support';
import { runInOwnProcess } from './own-process.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollgate-path-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program on a PATH that is otherwise empty, so that nothing of this machine is touched. */
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

const ask = (env: NodeJS.ProcessEnv = {}) =>
  runInOwnProcess('console.log(await redisServerBinary());', { PATH: folder, ...env });

test('redis-server is taken before valkey-server, and either is enough', async () => {
  program('valkey-server', '');
  expect((await ask()).stdout).toBe(`${join(folder, 'valkey-server')}\n`);
  program('redis-server', '');
  expect(await ask()).toEqual({ code: 0, signal: null, stdout: `${join(folder, 'redis-server')}\n`, stderr: '' });
});

test('without one, and without a way to install one, the error says what to do', async () => {
  const { code, stderr } = await ask();
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Error: There is no redis-server on the PATH. Install it (Debian: `apt-get install redis-server`, macOS: `brew ' +
      'install redis`), or set REDIS_URL',
  );
});

describe('installing', () => {
  /** What the package manager was asked for, in order. */
  const asked = () => readFileSync(join(folder, 'asked'), 'utf8').trimEnd().split('\n');

  const APT = 'apt-get -o DPkg::Lock::Timeout=300';

  /** A package manager that brings what it is asked for, as root or by way of `sudo`. */
  const canInstall = (install: string) => {
    program('sudo', '[ "$1" = -n ] && shift && exec "$@"');
    program('env', 'exec /usr/bin/env "$@"');
    program('apt-get', `echo "apt-get $* ($DEBIAN_FRONTEND)" >>'${folder}/asked'\n${install}`);
  };

  test('Debian’s package is installed, and a word is said', async () => {
    const binary = join(folder, 'redis-server');
    canInstall(`[ "$3" = update ] || { echo '#!/bin/sh' >'${binary}'; /bin/chmod +x '${binary}'; }`);
    expect(await ask()).toEqual({
      code: 0,
      signal: null,
      stdout: `${binary}\n`,
      stderr: 'There is no redis-server on the PATH: installing the package redis-server with apt-get\n',
    });
    expect(asked()).toEqual([`${APT} update (noninteractive)`, `${APT} install -y redis-server (noninteractive)`]);
  });

  test('several packages are installed after one update', async () => {
    canInstall(`[ "$3" = update ] || { echo '#!/bin/sh' >"${folder}/$5"; /bin/chmod +x "${folder}/$5"; }`);
    const script = 'console.log(await redisServerBinary(), await chromiumBinary());';
    const { stdout } = await runInOwnProcess(script, { PATH: folder });
    expect(stdout).toBe(`${join(folder, 'redis-server')} ${join(folder, 'chromium')}\n`);
    expect(asked()).toEqual([
      `${APT} update (noninteractive)`,
      `${APT} install -y redis-server (noninteractive)`,
      `${APT} install -y chromium (noninteractive)`,
    ]);
  });

  test('a failure is told with its cause', async () => {
    canInstall('echo "Temporary failure resolving" >&2; exit 100');
    const { code, stderr } = await ask();
    expect(code).toBe(1);
    expect(stderr).toContain('Error: redis-server could not be installed with apt-get. Install it (Debian: `apt-get');
    expect(stderr).toContain('Temporary failure resolving');
    expect(asked()).toHaveLength(1);
  });

  test('a worker of Jest leaves that to the global setup', async () => {
    canInstall('');
    const { PATH } = process.env;
    process.env.PATH = folder;
    try {
      await expect(redisServerBinary()).rejects.toThrow('There is no redis-server on the PATH');
    } finally {
      process.env.PATH = PATH;
    }
    expect(asked).toThrow('ENOENT');
  });
});
