// As jest-global-setup.ts loads this file, too, there is no '.js' here.
import { findOrInstall } from './debian-package';

let asked: Promise<string> | undefined;

/**
 * The path of a Redis or Valkey server. Where there is none and it may, it installs Debian's package, and says so.
 *
 * @throws Error that says what to install.
 */
export function redisServerBinary(): Promise<string> {
  asked ??= findOrInstall({
    name: 'redis-server',
    programs: ['redis-server', 'valkey-server'],
    how:
      'Install it (Debian: `apt-get install redis-server`, macOS: `brew install redis`), or set REDIS_URL for the tests ' +
      'that only need some server',
    service: 'redis-server',
  }).catch((error) => {
    asked = undefined;
    throw error;
  });
  return asked;
}
