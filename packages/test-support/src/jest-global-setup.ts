// Jest loads this file before its names of modules are in force, so there is no '.js' here.
import { chromiumBinary } from './chromium-binary';
import { redisServerBinary } from './redis-server-binary';

/** Has all programs installed once, before the workers start. Where that cannot be, only the tests that need one fail. */
export default async function setUp(): Promise<void> {
  // One after the other: there is one package manager.
  for (const binary of [redisServerBinary, chromiumBinary]) {
    try {
      await binary();
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
    }
  }
}
