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

const runWith = (script: string, env: NodeJS.ProcessEnv = {}) => runInOwnProcess(script, { PATH: folder, ...env });
const ask = (env?: NodeJS.ProcessEnv) => runWith('console.log(await redisServerBinary());', env);

test('redis-server is taken before valkey-server, and either is enough', async () => {
  program('valkey-server', '');
  expect((await ask()).stdout).toBe(`${join(folder, 'valkey-server')}\n`);
  program('redis-server', '');
  expect(await ask()).toEqual({ code: 0, signal: null, stdout: `${join(folder, 'redis-server')}\n`, stderr: '' });
});

test('ROLLGATE_REDIS_SERVER has precedence over the PATH', async () => {
  program('redis-server', '');
  program('other-server', '');
  const other = join(folder, 'other-server');
  expect(await ask({ ROLLGATE_REDIS_SERVER: other })).toMatchObject({ code: 0, stdout: `${other}\n`, stderr: '' });
  expect((await ask({ ROLLGATE_REDIS_SERVER: '' })).stdout).toBe(`${join(folder, 'redis-server')}\n`);
});

test('ROLLGATE_REDIS_SERVER must be the path of a program', async () => {
  program('redis-server', '');
  const { code, stderr } = await ask({ ROLLGATE_REDIS_SERVER: '/missing' });
  expect(code).toBe(1);
  expect(stderr).toContain("Error: Expected ROLLGATE_REDIS_SERVER to be the path of a program, got '/missing'");
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

  test('one line announces Debian’s package, which is then installed', async () => {
    const binary = join(folder, 'redis-server');
    canInstall(`[ "$3" = update ] || { echo '#!/bin/sh' >'${binary}'; /bin/chmod +x '${binary}'; }`);
    expect(await ask()).toEqual({
      code: 0,
      signal: null,
      stdout: `${binary}\n`,
      stderr:
        'Installing packages that the tests need with apt-get: redis-server. Set ROLLGATE_NO_INSTALL=1 to prevent this\n',
    });
    expect(asked()).toEqual([`${APT} update (noninteractive)`, `${APT} install -y redis-server (noninteractive)`]);
  });

  test('the global setup announces and installs all that is missing at once', async () => {
    const each = `for name in redis-server chromium; do echo '#!/bin/sh' >"${folder}/$name"; done`;
    canInstall(`[ "$3" = update ] || { ${each}; /bin/chmod +x "${folder}/redis-server" "${folder}/chromium"; }`);
    const { stdout, stderr } = await runWith(
      'await setUp(); console.log(await redisServerBinary(), await chromiumBinary());',
    );
    expect(stdout).toBe(`${join(folder, 'redis-server')} ${join(folder, 'chromium')}\n`);
    expect(stderr).toBe(
      'Installing packages that the tests need with apt-get: redis-server, chromium. Set ROLLGATE_NO_INSTALL=1 to prevent this\n',
    );
    expect(asked()).toEqual([
      `${APT} update (noninteractive)`,
      `${APT} install -y redis-server chromium (noninteractive)`,
    ]);
  });

  test('ROLLGATE_NO_INSTALL=1 prevents it, and the global setup names everything that is missing', async () => {
    canInstall('');
    const outcome = await runWith('await setUp();', { ROLLGATE_NO_INSTALL: '1' });
    expect(outcome).toMatchObject({ code: 0, stdout: '' });
    expect(outcome.stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^ROLLGATE_NO_INSTALL=1 is set. There is no redis-server .*`apt-get install redis-server`/),
      expect.stringMatching(/^There is no chromium .*`apt-get install chromium`/),
    ]);
    expect((await ask({ ROLLGATE_NO_INSTALL: '1' })).code).toBe(1);
    expect(asked).toThrow('ENOENT');
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
    const { PATH, ROLLGATE_REDIS_SERVER = '' } = process.env;
    Object.assign(process.env, { PATH: folder, ROLLGATE_REDIS_SERVER: '' });
    try {
      await expect(redisServerBinary()).rejects.toThrow('There is no redis-server on the PATH');
    } finally {
      Object.assign(process.env, { PATH, ROLLGATE_REDIS_SERVER });
    }
    expect(asked).toThrow('ENOENT');
  });
});
