// Jest loads this file before its names of modules are in force, so there is no '.js' here.
import { redisServerBinary } from './redis-server-binary';

/** Has a server installed once, before the workers start. Where that cannot be, only the tests that need one fail. */
export default async function setUp(): Promise<void> {
  try {
    await redisServerBinary();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
  }
}
