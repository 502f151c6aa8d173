// Without '.js', because jest-global-setup.ts loads this file too.
import { findOrInstall, type RequiredProgram } from './required-program';

export const REDIS_SERVER: RequiredProgram = {
  name: 'redis-server',
  programs: ['redis-server', 'valkey-server'],
  variable: 'ROLLGATE_REDIS_SERVER',
  how:
    'Install it (Debian: `apt-get install redis-server`, macOS: `brew install redis`), or set REDIS_URL for the tests ' +
    'that can share a server',
};

let installed: Promise<string> | undefined;

/**
 * The path of a Redis or Valkey server: the one of `ROLLGATE_REDIS_SERVER`, or one on the PATH. If there is none, it installs Debian's package and announces it on stderr.
 *
 * @throws Error if it cannot install one. The message contains what to install.
 */
export function redisServerBinary(): Promise<string> {
  installed ??= findOrInstall(REDIS_SERVER).catch((error) => {
    installed = undefined;
    throw error;
  });
  return installed;
}
