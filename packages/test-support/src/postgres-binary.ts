import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
// Without '.js', because jest-global-setup.ts loads this file too.
import { findOrInstall, type RequiredProgram } from './required-program';

/** Where Debian's package has the programs of each version. They are not on the PATH. */
const DEBIAN = '/usr/lib/postgresql';

const debianFolders = () =>
  existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .sort((one, other) => Number(other) - Number(one))
        .map((version) => join(DEBIAN, version, 'bin'))
    : [];

export const POSTGRES: RequiredProgram = {
  name: 'postgresql',
  programs: ['postgres'],
  folders: debianFolders,
  variable: 'ROLLGATE_POSTGRES',
  how: 'Install it (Debian: `apt-get install postgresql`, macOS: `brew install postgresql`)',
};

let installed: Promise<string> | undefined;

/**
 * The folder with the programs of PostgreSQL. If there is none, installs Debian's package and announces it on stderr.
 *
 * @throws Error if it cannot install one. The message contains what to install.
 */
export function postgresFolder(): Promise<string> {
  installed ??= findOrInstall(POSTGRES)
    .then((program) => dirname(realpathSync(program))) // The others may not be on the PATH.
    .catch((error) => {
      installed = undefined;
      throw error;
    });
  return installed;
}
