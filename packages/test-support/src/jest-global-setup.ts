// Without '.js', because Jest loads this file before its module mapping applies.
import { CHROMIUM } from './chromium-binary';
import { POSTGRES } from './postgres-binary';
import { REDIS_SERVER } from './redis-server-binary';
import { install } from './required-program';

/** Installs the programs that the tests need before the workers start. If it fails, only the tests that need one fail. */
export default async function setUp(): Promise<void> {
  try {
    await install([REDIS_SERVER, POSTGRES, CHROMIUM]);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
  }
}
