import { versionOf } from '../machine.js';
import { withServer } from '../redis.js';
import { LIBRARY_NAMES, type LibraryName, packagesOf } from './libraries/index.js';

/** The packages of each library with their versions. */
export function libraryHeaders(): Record<LibraryName, string> {
  const describe = (name: LibraryName) =>
    packagesOf(name)
      .map((one) => `${one} ${versionOf(one)}`)
      .join(' with ');
  return Object.fromEntries(LIBRARY_NAMES.map((name) => [name, describe(name)])) as Record<LibraryName, string>;
}

/** Describes the Redis server that the probes start, and their client. */
export const describeRedis = (): Promise<string> => withServer(async (_server, about) => about);
