// Jest loads this file before its names of modules are in force, so there is no '.js' here.
import { CHROMIUM } from './chromium-binary';
import { install } from './debian-package';
import { REDIS_SERVER } from './redis-server-binary';

/** Installs all programs that the tests need, before the workers start. If it cannot, only the tests that need one fail. */
export default async function setUp(): Promise<void> {
  try {
    await install([REDIS_SERVER, CHROMIUM]);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
  }
}
