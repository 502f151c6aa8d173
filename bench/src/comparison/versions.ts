import { versionOf } from '../machine.js';
import { LIBRARY_NAMES, type LibraryName, packagesOf } from './libraries/index.js';
import { PrivateRedis } from './private-redis.js';

/** The packages of each library with their versions. */
export function libraryHeaders(): Record<LibraryName, string> {
  const describe = (name: LibraryName) =>
    packagesOf(name)
      .map((one) => `${one} ${versionOf(one)}`)
      .join(' with ');
  return Object.fromEntries(LIBRARY_NAMES.map((name) => [name, describe(name)])) as Record<LibraryName, string>;
}

/** Describes the Redis server that the probes start, and their client. */
export async function describeRedis(): Promise<string> {
  const redis = await PrivateRedis.start();
  const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(String(await redis.run('INFO', 'server'))) ?? [];
  await redis.stop();
  return `- Redis ${version}, ioredis ${versionOf('ioredis')}`;
}
