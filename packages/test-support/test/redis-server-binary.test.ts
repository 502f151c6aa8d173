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

/** Adds a program to a PATH that is otherwise empty, so that the test changes nothing on this machine. */
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

const runWith = (script: string, env: NodeJS.ProcessEnv = {}) => runInOwnProcess(script, { PATH: folder, ...env });
const printBinary = (env?: NodeJS.ProcessEnv) => runWith('console.log(await redisServerBinary());', env);

test('prefers redis-server to valkey-server, and accepts either', async () => {
  program('valkey-server', '');
  expect((await printBinary()).stdout).toBe(`${join(folder, 'valkey-server')}\n`);
  program('redis-server', '');
  expect(await printBinary()).toEqual({
    code: 0,
    signal: null,
    stdout: `${join(folder, 'redis-server')}\n`,
    stderr: '',
  });
});

test('ROLLGATE_REDIS_SERVER has precedence over the PATH', async () => {
  program('redis-server', '');
  program('other-server', '');
  const other = join(folder, 'other-server');
  expect(await printBinary({ ROLLGATE_REDIS_SERVER: other })).toMatchObject({
    code: 0,
    stdout: `${other}\n`,
    stderr: '',
  });
  expect((await printBinary({ ROLLGATE_REDIS_SERVER: '' })).stdout).toBe(`${join(folder, 'redis-server')}\n`);
});

test('ROLLGATE_REDIS_SERVER must be the path of a program', async () => {
  program('redis-server', '');
  const { code, stderr } = await printBinary({ ROLLGATE_REDIS_SERVER: '/missing' });
  expect(code).toBe(1);
  expect(stderr).toContain("Error: Expected ROLLGATE_REDIS_SERVER to be the path of a program, got '/missing'");
});

test('names the package to install if there is no server and no way to install one', async () => {
  const { code, stderr } = await printBinary();
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Error: Expected redis-server on the PATH, got none. Install it (Debian: `apt-get install redis-server`, macOS: `brew ' +
      'install redis`), or set REDIS_URL',
  );
});

describe('installing', () => {
  /** The commands that the package manager received, in order. */
  const commands = () => readFileSync(join(folder, 'commands'), 'utf8').trimEnd().split('\n');

  const APT = 'apt-get -o DPkg::Lock::Timeout=300';

  /** Adds a package manager that runs `install`, a `sudo` that allows everything, and a `service` that must not be used. */
  const canInstall = (install: string) => {
    program('service', `echo "service $*" >>'${folder}/commands'`);
    program('sudo', '[ "$1" = -n ] && shift && exec "$@"');
    program('env', 'exec /usr/bin/env "$@"');
    program('apt-get', `echo "apt-get $* ($DEBIAN_FRONTEND)" >>'${folder}/commands'\n${install}`);
  };

  test('announces Debian’s package in one line, then installs it', async () => {
    const binary = join(folder, 'redis-server');
    canInstall(`[ "$3" = update ] || { echo '#!/bin/sh' >'${binary}'; /bin/chmod +x '${binary}'; }`);
    expect(await printBinary()).toEqual({
      code: 0,
      signal: null,
      stdout: `${binary}\n`,
      stderr:
        'Installing packages that the tests need with apt-get: redis-server. Set ROLLGATE_NO_INSTALL=1 to prevent this\n',
    });
    expect(commands()).toEqual([`${APT} update (noninteractive)`, `${APT} install -y redis-server (noninteractive)`]);
  });

  test('installs all missing packages at once in the global setup', async () => {
    const each = `for name in redis-server chromium-headless-shell; do echo '#!/bin/sh' >"${folder}/$name"; done`;
    canInstall(
      `[ "$3" = update ] || { ${each}; /bin/chmod +x "${folder}/redis-server" "${folder}/chromium-headless-shell"; }`,
    );
    const { stdout, stderr } = await runWith(
      'await setUp(); console.log(await redisServerBinary(), await chromiumBinary());',
    );
    expect(stdout).toBe(`${join(folder, 'redis-server')} ${join(folder, 'chromium-headless-shell')}\n`);
    expect(stderr).toBe(
      'Installing packages that the tests need with apt-get: redis-server, chromium-headless-shell. Set ROLLGATE_NO_INSTALL=1 to prevent this\n',
    );
    expect(commands()).toEqual([
      `${APT} update (noninteractive)`,
      `${APT} install -y redis-server chromium-headless-shell (noninteractive)`,
    ]);
  });

  test('installs nothing with ROLLGATE_NO_INSTALL=1, and names all missing packages', async () => {
    canInstall('');
    const outcome = await runWith('await setUp();', { ROLLGATE_NO_INSTALL: '1' });
    expect(outcome).toMatchObject({ code: 0, stdout: '' });
    expect(outcome.stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^ROLLGATE_NO_INSTALL=1 is set. Expected redis-server .*`apt-get install redis-server`/),
      expect.stringMatching(/^Expected chromium-headless-shell .*`apt-get install chromium-headless-shell`/),
    ]);
    expect((await printBinary({ ROLLGATE_NO_INSTALL: '1' })).code).toBe(1);
    expect(commands).toThrow('ENOENT');
  });

  test('reports a failure with its cause', async () => {
    canInstall('echo "Temporary failure resolving" >&2; exit 100');
    const { code, stderr } = await printBinary();
    expect(code).toBe(1);
    expect(stderr).toContain('Error: Cannot install redis-server with apt-get. Install it (Debian: `apt-get');
    expect(stderr).toContain('Temporary failure resolving');
    expect(commands()).toHaveLength(1);
  });

  test('installs nothing in a Jest worker', async () => {
    canInstall('');
    const { PATH, ROLLGATE_REDIS_SERVER = '' } = process.env;
    Object.assign(process.env, { PATH: folder, ROLLGATE_REDIS_SERVER: '' });
    try {
      await expect(redisServerBinary()).rejects.toThrow('Expected redis-server on the PATH, got none');
    } finally {
      Object.assign(process.env, { PATH, ROLLGATE_REDIS_SERVER });
    }
    expect(commands).toThrow('ENOENT');
  });
});
