// As jest-global-setup.ts loads this file, too, there is no '.js' here.
import { findOrInstall, type Wanted } from './debian-package';

export const REDIS_SERVER: Wanted = {
  name: 'redis-server',
  programs: ['redis-server', 'valkey-server'],
  variable: 'ROLLGATE_REDIS_SERVER',
  how:
    'Install it (Debian: `apt-get install redis-server`, macOS: `brew install redis`), or set REDIS_URL for the tests ' +
    'that only need some server',
  service: 'redis-server',
};

let asked: Promise<string> | undefined;

/**
 * The path of a Redis or Valkey server: the one of `ROLLGATE_REDIS_SERVER`, or one on the PATH. If there is none, it installs Debian's package and announces it on stderr.
 *
 * @throws Error that says what to install.
 */
export function redisServerBinary(): Promise<string> {
  asked ??= findOrInstall(REDIS_SERVER).catch((error) => {
    asked = undefined;
    throw error;
  });
  return asked;
}
